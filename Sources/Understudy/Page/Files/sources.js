// What the short names of sources stand for, and where to read them: a page of the documentation, drawn here.

import { h, put, outcome, table } from './dom.js';
import { titles } from './api.js';

export const title = 'Sources';

export function view() {
  const said = outcome();
  const list = h('div');
  const update = params => said.run(async () => {
    const text = await (await fetch('page/sources.md')).text();
    put(list, text.split('\n## ').slice(1).map(part => section(part, params)));
    list.querySelector('.chosen')?.scrollIntoView({ block: 'center' });
  });
  return { update, node: h('div.page', h('h1', 'Sources'), said.element, list) };
}

function section(part, params) {
  const [heading, ...lines] = part.split('\n');
  const [columns, , ...rows] = lines.filter(line => line.startsWith('| ')).map(line => line.slice(2, -2).split(' | '));
  // Vendors mean different things by the same names.
  const isNamed = row => heading === titles.get(params.get('vendor')) && [...row.slice(0, 2).join().matchAll(/`(.+?)`|“(.+?)”/g)]
    .some(([, one, other]) => RegExp(`\\b${(one ?? other).replace('+', '\\+')}\\b`).test(params.get('of')));
  return h('div', h('h2', heading), h('p', inline(lines.filter(line => line && !line.startsWith('|')).join(' '))),
    table(heading, columns, rows.map(row => h(isNamed(row) ? 'tr.chosen' : 'tr', row.map((cell, index) => h('td', { 'data-label': columns[index] }, inline(cell)))))));
}

/** Code and links of a text in Markdown. */
const inline = text => text.split(/(`.+?`|\[.+?\]\(.+?\)|<.+?>)/).map(part => {
  const [, name, href = name] = /^\[?<?(.+?)>?(?:\]\((.+)\))?$/.exec(part) ?? [];
  if (/^[[<]/.test(part)) return h('a', { href, rel: 'noreferrer noopener', target: '_blank' }, name);
  return part.startsWith('`') ? h('code', part.slice(1, -1)) : part;
});
