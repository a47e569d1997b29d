// How two entries differ, member by member.

import { h, button, table } from './dom.js';
import { shown } from './words.js';

export async function compareEntries(first, second, app, sandbox, close) {
  const [one, two] = await Promise.all([first, second].map(id => sandbox.get(`journal/${id}`).then(flat)));
  const rows = [...new Set([...one.keys(), ...two.keys()])].filter(name => one.get(name) !== two.get(name));
  return h('article.entry', { label: `Entries ${first} and ${second}` },
    h('header', h('h2', `Entries ${first} and ${second}`)),
    h('div.tools', [first, second].map(id => h('a', { href: app.link({ entry: id, with: null }) }, `Open ${id}`)), button('Close', close)),
    rows.length ? table('Difference', ['What', `Entry ${first}`, `Entry ${second}`], rows.map(name => [name, h('code', one.get(name) ?? '–'), h('code', two.get(name) ?? '–')]))
      : h('p', 'They differ only in their number and time.'));
}

/** An entry as names and values; another order of checks or fields is no difference. */
function flat(entry) {
  const { id, at, findings, request, response, ...rest } = entry;
  const all = new Map();
  add(all, '', rest);
  for (const finding of findings) {
    add(all, `check ${finding.check}`, `${finding.outcome}, found ${shown(finding.found)}, expected ${shown(finding.expected)}`);
  }
  for (const [name, message] of [['request', request], ['response', response]]) {
    const { headers, ...others } = message;
    add(all, name, others);
    for (const [field, value] of headers) add(all, `${name} ${field.toLowerCase()}`, value);
  }
  return all;
}

function add(all, name, value) {
  if (value !== null && typeof value === 'object') {
    for (const [key, member] of Object.entries(value)) add(all, name ? `${name}.${key}` : key, member);
  } else {
    all.set(name, shown(value));
  }
}
