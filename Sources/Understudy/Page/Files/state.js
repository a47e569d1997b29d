// What a vendor remembers in the sandbox, as a tree, and what can happen to it behind the app's back.

import { h, put, button, field, filled, fold, select, outcome, code, copier, empty, submit } from './dom.js';
import { titles } from './api.js';
import { counted, shown } from './words.js';

export const title = 'State';

export function view(app, sandbox, all) {
  const said = outcome();
  const happened = h('div');
  const tree = h('section.panel', { label: 'State' });
  const actions = h('section', { label: 'Actions' });
  const chooser = select(all.map(each => [each.id, each.title]), null, value => app.change({ vendor: value }));
  const node = h('div.page', h('h1', 'State'), h('div.fields', field('Vendor', chooser)), said.element, happened, h('div.columns', tree, actions));
  let vendor = null;

  /** Reads what a vendor remembers, and shows it unless another one was chosen meanwhile. */
  async function read(asked) {
    const state = await sandbox.get(`state/${asked}`);
    if (asked !== vendor) return;
    const members = Object.entries(state);
    put(tree, h('h2', `What ${titles.get(asked)} remembers`), h('div.tools', button('Refresh', () => said.run(() => read(asked))), copier('Copy as JSON', () => JSON.stringify(state, null, 2))),
      members.length ? members.map(branch) : empty('Nothing yet. Calls and actions will fill it.', sandbox.sampleLine(asked)));
  }

  async function readActions(asked) {
    const all = (await sandbox.get('actions')).actions.filter(each => each.vendor === asked);
    if (asked === vendor) put(actions, h('h2', 'Actions'), all.length ? all.map(action) : h('p.empty', `${titles.get(asked)} has no actions.`));
  }

  function action(each) {
    const perform = event => {
      event.preventDefault();
      said.run(async () => {
        const members = Object.fromEntries(filled(event.target).map(([name, text]) => [name, parsed(text)]));
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
    return h('form.panel', { label: each.action, onsubmit: perform }, h('h3', each.action), h('p', each.about),
      h('div.fields', each.members.map(({ name, required, about }) => field(required ? `${name} (required)` : name, h('input', { name, required }), about))),
      h('div.tools', submit(`Do ${each.action}`)));
  }

  function update(params) {
    const chosen = params.get('vendor') ?? all[0].id;
    if (chosen === vendor) return;
    chooser.value = vendor = chosen;
    put(happened);
    said.run(() => Promise.all([read(vendor), readActions(vendor)]));
  }

  return { node, update };
}

/** JSON where it reads as such, text else: `7`, `{"a": 1}` or `entity123`. */
function parsed(text) {
  if (!/^[[{]/.test(text)) return text;
  try { return JSON.parse(text); } catch { return text; }
}

/** A member; lists and objects open on demand. */
function branch([name, value]) {
  if (value === null || typeof value !== 'object') return h('p.leaf', h('span.name', name), ' ', h('code', shown(value)));
  const entries = Object.entries(value);
  const label = Array.isArray(value) ? counted(entries.length, 'record') : shown(value.id ?? value.name ?? value.entity ?? value.email ?? counted(entries.length, 'member'));
  return fold(`${name}: ${label}`, () => hundred(entries));
}

/** The first hundred members, and a button for more. */
function hundred(entries) {
  const more = button('Show more', () => more.replaceWith(...hundred(entries.slice(100))));
  return [...entries.slice(0, 100).map(branch), ...entries.length > 100 ? [more] : []];
}
