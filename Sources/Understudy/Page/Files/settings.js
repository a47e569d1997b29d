// Profile, seed and switches: what each does, and where that is known from.

import { h, put, select, field, outcome, button, table, unfit } from './dom.js';
import { vendors } from './api.js';
import { source } from './checks.js';

export const title = 'Settings';

export function view(app, sandbox) {
  const said = outcome();
  const profile = h('div.fields');
  const list = h('div');
  const search = h('input', { type: 'search', placeholder: 'Filter  /', 'aria-label': 'Free text', value: app.params.get('text') ?? '', oninput: () => app.change({ text: search.value || null }, true) });
  const node = h('div.page', h('h1', 'Settings'), profile, said.element, search, list);
  let known = null;

  async function read() {
    const [all, settings] = await Promise.all([vendors(), sandbox.get('settings')]);
    known = { all, settings };
    draw();
  }

  const change = content => said.run(async () => {
    known.settings = await sandbox.call('PUT', 'settings', content);
    said.say('Changed; the next call sees it.');
    draw();
  });

  function draw() {
    const { all, settings } = known;
    const words = (app.params.get('text') ?? '').toLowerCase();
    const choices = ['documented', 'observed'];
    const seed = h('input', { type: 'number', min: 0, value: settings.seed ?? '', placeholder: 'none', onchange: () => change({ seed: seed.value === '' ? null : Number(seed.value) }) });
    put(profile,
      field('Profile', select(choices, settings.profile, value => change({ profile: value })), 'documented: as the documents say; observed: as the vendors’ clients show'),
      all.map(vendor => field(`Profile of ${vendor.title}`, select([['', 'as above'], ...choices], settings.vendor_profiles[vendor.id] ?? '', value => change({ profile: { [vendor.id]: value || null } })))),
      field('Seed', seed, 'makes ids and times repeatable'));
    put(list, all.map(vendor => {
      const rows = vendor.switches.filter(each => JSON.stringify(each).toLowerCase().includes(words) || `${vendor.id}.${each.name}`.includes(words));
      return rows.length ? [h('h2', vendor.title), table(`Switches of ${vendor.title}`, ['Switch', 'Value', 'What it decides', 'Documented', 'Observed', 'Source'], rows.map(each => row(vendor, each, settings)))] : null;
    }));
    if (!list.childElementCount) put(list, unfit('No switch matches this filter.', () => { search.value = ''; app.change({ text: null }); }));
  }

  function row(vendor, each, settings) {
    const name = `${vendor.id}.${each.name}`;
    const value = settings.switches[name];
    const own = settings.vendor_profiles[vendor.id] ?? settings.profile;
    const isChanged = value !== each[own];
    const set = text => change({ switches: { [name]: text } });
    const control = each.choices
      ? select(each.choices, value, set, { 'aria-label': name })
      : h('input', { 'aria-label': name, value, title: each.values, onchange: event => set(event.target.value) });
    return [h('code', each.name), [control, isChanged ? button('back', () => set(null), { 'aria-label': `${name} back to the profile`, class: 'link' }) : null],
      each.about, each.documented || '–', each.observed || '–', source(each.source)];
  }

  function key(event) {
    if (event.key !== '/') return false;
    search.focus();
    return true;
  }

  return { node, key, update() { if (known) draw(); else read().catch(said.fail); } };
}
