// How two entries differ, member by member.

import { h, put, button, table } from './dom.js';
import { shown } from './words.js';

/** Shows the difference of two entries in a place. */
export async function compareEntries(place, sandbox, first, second, app, close) {
  try {
    const [one, two] = await Promise.all([sandbox.get(`journal/${first}`), sandbox.get(`journal/${second}`)]);
    const rows = differences(flat(one), flat(two));
    put(place, h('article.entry', { 'aria-label': `Entries ${first} and ${second}` },
      h('header', h('h2', `Entries ${first} and ${second}`)),
      h('div.tools', h('a', { href: app.link({ entry: first, with: null }) }, `Open ${first}`), h('a', { href: app.link({ entry: second, with: null }) }, `Open ${second}`), button('Close', close)),
      rows.length ? table('Difference', ['What', `Entry ${first}`, `Entry ${second}`], rows.map(([name, a, b]) => [name, h('code', a), h('code', b)]))
        : h('p', 'They differ only in their number and time.')));
  } catch (problem) {
    put(place, h('p.outcome.bad', { role: 'alert' }, '✕ ', problem.message), button('Close', close));
  }
}

/** An entry as names and values; checks and fields by their names, so that another order is no difference. */
function flat(entry) {
  const { id, at, findings, request, response, ...rest } = entry;
  const all = new Map();
  add(all, '', rest);
  for (const finding of findings) {
    add(all, `check ${finding.check}`, finding.outcome + (Object.hasOwn(finding, 'found') ? `, found ${shown(finding.found)}` : '') + (Object.hasOwn(finding, 'expected') ? `, expected ${shown(finding.expected)}` : ''));
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

function differences(one, two) {
  const names = [...new Set([...one.keys(), ...two.keys()])];
  return names.filter(name => one.get(name) !== two.get(name)).map(name => [name, one.get(name) ?? '–', two.get(name) ?? '–']);
}
