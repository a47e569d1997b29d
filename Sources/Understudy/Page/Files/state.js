// What a vendor remembers in the sandbox, as a tree, and what can happen to it behind the app's back.

import { h, put, button, field, select, outcome, code, copier, empty } from './dom.js';
import { get, call, vendors, sampleLine } from './api.js';
import { counted, shown } from './words.js';

export const title = 'State';

export function view(app) {
  const said = outcome();
  const happened = h('div');
  const tree = h('section.panel', { 'aria-label': 'State' });
  const actions = h('section', { 'aria-label': 'Actions' });
  const chooser = h('div.fields');
  const node = h('div.page', h('h1', 'State'), chooser, said.element, happened, h('div.columns', tree, actions));
  let vendor = null;
  let shownKey = '';

  async function read() {
    const state = await get(`state/${vendor}`);
    const members = Object.entries(state);
    put(tree, h('h2', `What ${vendor} remembers`), h('div.tools', button('Look again', () => said.run(read)), copier('Copy as JSON', () => JSON.stringify(state, null, 2))),
      members.length ? members.map(([name, value]) => branch(name, value)) : empty('Nothing yet. Calls and actions will fill it.', sampleLine(vendor)));
  }

  async function readActions() {
    const all = (await get('actions')).actions.filter(each => each.vendor === vendor);
    put(actions, h('h2', 'Actions'), all.length ? all.map(action) : h('p.empty', `${vendor} has no actions.`));
  }

  function action(each) {
    const inputs = each.members.map(member => [member, h('input', { name: member.name, required: member.required })]);
    const perform = event => {
      event.preventDefault();
      said.run(async () => {
        const members = Object.fromEntries(inputs.filter(([, input]) => input.value).map(([member, input]) => [member.name, parsed(input.value)]));
        const before = await get(`state/${vendor}`);
        const answer = await call('POST', `state/${vendor}/${each.action}`, members);
        said.say(`${each.action} happened.`);
        put(happened, code(answer), button('Undo', () => said.run(async () => {
          await call('PUT', `state/${vendor}`, before);
          put(happened);
          said.say('The state is as it was before; sessions that ended stay ended, and users who were gone come back without passwords.');
          await read();
        })));
        await read();
      });
    };
    return h('form.panel', { 'aria-label': each.action, onsubmit: perform }, h('h3', each.action), h('p', each.about),
      h('div.fields', inputs.map(([member, input]) => field(member.required ? `${member.name} (needed)` : member.name, input, member.about))),
      h('div.tools', h('button', { type: 'submit' }, `Do ${each.action}`)));
  }

  async function update(params) {
    await said.run(async () => {
      const all = await vendors();
      vendor = params.get('vendor') ?? all[0]?.id;
      put(chooser, field('Vendor', select(all.map(each => [each.id, each.title]), vendor, value => app.change({ vendor: value }))));
      const key = `${app.sandbox} ${vendor}`;
      if (key === shownKey) return;
      shownKey = key;
      await Promise.all([read(), readActions()]);
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
