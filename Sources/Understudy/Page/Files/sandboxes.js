// All sandboxes, and what can be done with one or many.

import { h, put, button, field, table, outcome, copier, repeated, select, searchBox, unfit, submit } from './dom.js';
import { Sandbox } from './api.js';
import { counted, span, timeOfDay } from './words.js';

export const title = 'Sandboxes';

const ORDERS = {
  name: ['by name', () => 0], refusals: ['most refusals first', (a, b) => b.refusals - a.refusals],
  new: ['newest first', (a, b) => a.age_seconds - b.age_seconds], used: ['last used first', (a, b) => a.idle_seconds - b.idle_seconds],
};
/** More rows would make the page slow, and are found by searching. */
const MOST = 200;

export function view(app, sandbox) {
  const list = h('div');
  const said = outcome();
  const name = h('input', { placeholder: 'shop-42', pattern: '[a-z0-9\\-]{1,63}', required: true, label: 'Name' });
  const life = h('input', { placeholder: '10m; empty: none', label: 'Time to live' });
  const search = searchBox(app);
  const refused = h('input', { type: 'checkbox', onchange: () => app.change({ refused: refused.checked || null }) });
  const sort = select(Object.entries(ORDERS).map(([key, [text]]) => [key, text]), 'name', value => app.change({ sort: value === 'name' ? null : value }), { label: 'Order' });
  const several = button('', () => lose(those, 'Delete'), { hidden: true });
  const node = h('div.page', h('h1', 'Sandboxes'),
    h('p', 'Each has its own users, clock, settings, faults and journal. It is created when it is first named, or here:'),
    h('form.inline', { label: 'New sandbox', onsubmit: create }, field('Name', name), field('Removed if unused for', life), submit('Create')),
    h('div.filters', search.element, h('label.toggle', refused, 'Has refusals'), sort, several), said.element, list);
  let known = null;
  let those = [];

  async function create(event) {
    event.preventDefault();
    await said.run(async () => {
      const made = await sandbox.call('PUT', `sandboxes/${encodeURIComponent(name.value.trim())}`, { ttl: life.value.trim() || null });
      said.say(`Sandbox ${made.name} was created.`);
      await live.again();
    });
  }

  function draw(value = known) {
    if (!value) return;
    known = value;
    const { sandboxes, stored = [], replica } = known;
    const others = stored.filter(each => !sandboxes.some(own => own.name === each.name));
    app.sandboxes([...sandboxes, ...others]);
    refused.checked = app.params.get('refused') === 'true';
    sort.value = app.params.get('sort') ?? 'name';
    const words = search.words(app.params);
    const found = sandboxes.filter(each => each.name.includes(words) && (each.refusals || !refused.checked)).sort((ORDERS[sort.value] ?? ORDERS.name)[1]);
    those = found.filter(each => each.name !== 'default');
    several.hidden = !those.length;
    several.textContent = `Delete these ${those.length}`;
    put(list,
      table('Sandboxes', ['Name', 'Refusals', 'Calls', 'Age', 'Unused for', 'Sockets', 'Clock', 'Seed', ''], found.slice(0, MOST).map(row))
        || unfit('No sandbox matches these filters.', () => app.go('sandboxes')),
      found.length > MOST ? h('p.note', `${found.length - MOST} more: search for them.`) : null,
      others.length ? [h('h2', `${others.length} more in the store`),
        table('Stored sandboxes', ['Name', 'Created', 'Used', ...replica ? ['Replica'] : []], others.slice(0, 500).map(each => [
          each.name, each.created_at, each.used_at, ...replica ? [each.replica ?? '–'] : []]))] : []);
  }

  function row(each) {
    return [h('a', { href: app.link({ sandbox: each.name }, 'journal'), 'aria-current': each.name === sandbox.name ? 'true' : null }, each.name),
      each.refusals ? h('a.refusals', { href: app.link({ sandbox: each.name, refused: 'true' }, 'journal') }, `✕ ${each.refusals}`) : '–',
      h('span', { title: `The journal keeps ${counted(each.journal_entries, 'entry', 'entries')}, ${Math.ceil(each.journal_bytes / 1024)} kB` }, each.exchanges),
      span(each.age_seconds), span(each.idle_seconds) + (each.expires_in_seconds === null ? '' : `, removed in ${span(each.expires_in_seconds)}`),
      each.sockets, h(`span${each.clock === 'machine' ? '' : '.moved'}`, `${timeOfDay(each.now)} ${each.clock}`), each.seed ?? '–',
      h('span.tools', copier('Copy address', () => new Sandbox(each.name).address, { label: `Copy address of ${each.name}` }),
        button('Reset', () => lose([each], 'Reset'), { label: `Reset ${each.name}` }),
        each.name === 'default' ? null : button('Delete', () => lose([each], 'Delete'), { label: `Delete ${each.name}` }))];
  }

  /** Undoing is possible while the line above shows. */
  function lose(those, what) {
    const entries = those.reduce((sum, each) => sum + each.journal_entries, 0);
    const whom = those.length === 1 ? `sandbox ${those[0].name}` : `${those.length} sandboxes, ${those[0].name} to ${those.at(-1).name}`;
    app.later(`${what} ${whom}: this removes ${counted(entries, 'journal entry', 'journal entries')}, users’ changes, clock, settings, scenarios and faults.`, async () => {
      for (const { name } of those) {
        await (what === 'Delete' ? sandbox.call('DELETE', `sandboxes/${name}`) : new Sandbox(name).call('POST', 'reset'));
        if (what === 'Delete' && app.sandbox.name === name) app.change({ sandbox: 'default' });
      }
      await live.again();
    });
  }

  const live = repeated(node, said, 2000, () => sandbox.get('sandboxes'), draw);
  return { ...live, update: () => draw(), key: search.key };
}
