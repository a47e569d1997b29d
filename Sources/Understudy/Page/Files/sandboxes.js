// All sandboxes, and what can be done with each.

import { h, put, button, field, table, outcome, copier, repeated } from './dom.js';
import { Sandbox } from './api.js';
import { counted, span, timeOfDay } from './words.js';

export const title = 'Sandboxes';

export function view(app, sandbox) {
  const list = h('div');
  const said = outcome();
  const name = h('input', { placeholder: 'shop-42', pattern: '[a-z0-9\\-]{1,63}', required: true, 'aria-label': 'Name' });
  const life = h('input', { placeholder: '10m; empty: none', 'aria-label': 'Time to live' });
  const node = h('div.page', h('h1', 'Sandboxes'),
    h('p', 'Every test can have its own users, clock, settings, faults and journal. A sandbox is created when it is first named, or here:'),
    h('form.inline', { 'aria-label': 'New sandbox', onsubmit: create }, field('Name', name), field('Removed if unused for', life), h('button', { type: 'submit' }, 'Create')),
    said.element, list);

  async function create(event) {
    event.preventDefault();
    await said.run(async () => {
      const made = await sandbox.call('PUT', `sandboxes/${encodeURIComponent(name.value.trim())}`, { ttl: life.value.trim() || null });
      said.say(`Sandbox ${made.name} was created.`);
      await read();
    });
  }

  async function read() {
    const { sandboxes, stored = [], replica } = await sandbox.get('sandboxes');
    const others = stored.filter(each => !sandboxes.some(own => own.name === each.name));
    app.sandboxes([...sandboxes, ...others].map(each => each.name));
    put(list,
      table('Sandboxes', ['Name', 'Age', 'Unused for', 'Calls', 'Journal', 'Sockets', 'Clock', 'Seed', ''], sandboxes.map(row)),
      others.length ? [h('h2', `${others.length} more in the store`),
        table('Stored sandboxes', ['Name', 'Created', 'Used', ...replica ? ['Replica'] : []], others.slice(0, 500).map(each => [
          each.name, each.created_at, each.used_at, ...replica ? [each.replica ?? '–'] : []]))] : []);
  }

  function row(each) {
    const isDefault = each.name === 'default';
    const base = isDefault ? location.origin : `${location.origin}/~${each.name}`;
    return [h('a', { href: app.link({ sandbox: each.name, entry: null }, 'journal'), 'aria-current': each.name === sandbox.name ? 'true' : null }, each.name),
      span(each.age_seconds), span(each.idle_seconds) + (each.expires_in_seconds === null ? '' : `, removed in ${span(each.expires_in_seconds)}`),
      each.exchanges, `${counted(each.journal_entries, 'entry', 'entries')}, ${Math.ceil(each.journal_bytes / 1024)} kB`, each.sockets,
      `${timeOfDay(each.now)} ${each.clock}`, each.seed ?? '–',
      h('span.tools', copier('Copy address', () => base, { 'aria-label': `Copy address of ${each.name}` }),
        button('Reset', () => lose(each, 'Reset'), { 'aria-label': `Reset ${each.name}`, title: 'Users, clock, settings, scenarios, faults and journal start over.' }),
        isDefault ? null : button('Delete', () => lose(each, 'Delete'), { 'aria-label': `Delete ${each.name}`, title: 'Deletes the sandbox and everything in it.' }))];
  }

  /** Undoing is possible while the line above shows. */
  function lose(each, what) {
    const lost = `${counted(each.journal_entries, 'journal entry', 'journal entries')}, its users’ changes, clock, settings, scenarios and faults`;
    app.later(`${what} sandbox ${each.name}: this removes ${lost}.`, async () => {
      if (what === 'Delete') {
        await sandbox.call('DELETE', `sandboxes/${each.name}`);
        if (app.sandbox.name === each.name) app.change({ sandbox: 'default', entry: null });
      } else {
        await new Sandbox(each.name).call('POST', 'reset');
      }
      await read();
    });
  }

  return repeated(node, read, said, 2000);
}
