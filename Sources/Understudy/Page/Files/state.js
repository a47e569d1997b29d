// What a vendor remembers in the sandbox, as a tree, and what can happen to it behind the app's back.

import { h, put, button, field, select, outcome, code, copier, empty } from './dom.js';
import { vendors } from './api.js';
import { counted, shown } from './words.js';

export const title = 'State';

export function view(app, sandbox) {
  const said = outcome();
  const happened = h('div');
  const tree = h('section.panel', { 'aria-label': 'State' });
  const actions = h('section', { 'aria-label': 'Actions' });
  const chooser = h('div.fields');
  const node = h('div.page', h('h1', 'State'), chooser, said.element, happened, h('div.columns', tree, actions));
  let vendor = null;

  /** Reads what a vendor remembers, and shows it unless another one was chosen meanwhile. */
  async function read(asked) {
    const state = await sandbox.get(`state/${asked}`);
    if (asked !== vendor) return;
    const members = Object.entries(state);
    put(tree, h('h2', `What ${asked} remembers`), h('div.tools', button('Refresh', () => said.run(() => read(asked))), copier('Copy as JSON', () => JSON.stringify(state, null, 2))),
      members.length ? members.map(([name, value]) => branch(name, value)) : empty('Nothing yet. Calls and actions will fill it.', sandbox.sampleLine(asked)));
  }

  async function readActions(asked) {
    const all = (await sandbox.get('actions')).actions.filter(each => each.vendor === asked);
    if (asked === vendor) put(actions, h('h2', 'Actions'), all.length ? all.map(action) : h('p.empty', `${asked} has no actions.`));
  }

  function action(each) {
    const inputs = each.members.map(member => [member, h('input', { name: member.name, required: member.required })]);
    const perform = event => {
      event.preventDefault();
      said.run(async () => {
        const members = Object.fromEntries(inputs.filter(([, input]) => input.value).map(([member, input]) => [member.name, parsed(input.value)]));
        const before = await sandbox.get(`state/${each.vendor}`);
        const answer = await sandbox.call('POST', `state/${each.vendor}/${each.action}`, members);
        said.say(`${each.action} is done.`);
        put(happened, code(answer), button('Undo', () => said.run(async () => {
          await sandbox.call('PUT', `state/${each.vendor}`, before);
          put(happened);
          said.say('The state is as it was before; sessions that ended stay ended, and users who were gone come back without passwords.');
          await read(each.vendor);
        })));
        await read(each.vendor);
      });
    };
    return h('form.panel', { 'aria-label': each.action, onsubmit: perform }, h('h3', each.action), h('p', each.about),
      h('div.fields', inputs.map(([member, input]) => field(member.required ? `${member.name} (required)` : member.name, input, member.about))),
      h('div.tools', h('button', { type: 'submit' }, `Do ${each.action}`)));
  }

  async function update(params) {
    await said.run(async () => {
      const all = await vendors();
      const chosen = params.get('vendor') ?? all[0]?.id;
      if (chosen === vendor) return;
      vendor = chosen;
      put(happened);
      put(chooser, field('Vendor', select(all.map(each => [each.id, each.title]), vendor, value => app.change({ vendor: value }))));
      await Promise.all([read(vendor), readActions(vendor)]);
    });
  }

  return { node, update };
}

/** JSON where it reads as such, text else: `7`, `{"a": 1}` or `entity123`. */
function parsed(text) {
  if (!/^[[{]/.test(text)) return text;
  try { return JSON.parse(text); } catch { return text; }
}

/** A member; lists and objects open on demand, a hundred at a time. */
function branch(name, value) {
  if (value === null || typeof value !== 'object') return h('p.leaf', h('span.name', name), ' ', h('code', shown(value)));
  const entries = Object.entries(value);
  const place = h('div.folded');
  let count = 0;
  const more = button('Show more', add);
  function add() {
    for (const [key, member] of entries.slice(count, count + 100)) place.insertBefore(branch(key, member), more);
    count += 100;
    more.hidden = count >= entries.length;
  }
  const label = Array.isArray(value) ? counted(entries.length, 'record') : shown(value.id ?? value.name ?? value.entity ?? value.email ?? counted(entries.length, 'member'));
  const details = h('details', { ontoggle: () => { if (details.open && !count) { place.append(more); add(); } } }, h('summary', `${name}: ${label}`), place);
  return details;
}
