// Profile, seed and switches: what each does, and where that is known from.

import { h, put, select, field, fold, outcome, button, table, unfit, searchBox } from './dom.js';
import { source } from './checks.js';

export const title = 'Settings';

export function view(app, sandbox, all) {
  const said = outcome();
  const profile = h('div.fields');
  const list = h('div');
  const search = searchBox(app);
  const node = h('div.page', h('h1', 'Settings'), profile, said.element, search.element, list);
  let known = null;

  const change = content => said.run(async () => {
    known = await sandbox.call('PUT', 'settings', content);
    said.say('Changed; the next call sees it.');
    draw();
  });

  function draw() {
    const words = search.words(app.params);
    const choices = ['documented', 'observed'];
    const seed = h('input', { type: 'number', min: 0, value: known.seed ?? '', placeholder: 'none', onchange: () => change({ seed: seed.value === '' ? null : Number(seed.value) }) });
    put(profile,
      field('Profile', select(choices, known.profile, value => change({ profile: value })), 'documented: as the documents say; observed: as the vendors’ clients show'),
      field('Seed', seed, 'makes ids and times repeatable'),
      fold('Another profile for one vendor', () => all.map(vendor => field(`Profile of ${vendor.title}`, select([['', 'as above'], ...choices], known.vendor_profiles[vendor.id] ?? '', value => change({ profile: { [vendor.id]: value || null } })))), Object.keys(known.vendor_profiles).length > 0));
    put(list, all.map(vendor => {
      const rows = vendor.switches.filter(each => JSON.stringify(each).toLowerCase().includes(words) || `${vendor.id}.${each.name}`.includes(words));
      return rows.length > 0 && [h('h2', vendor.title), table(`Switches of ${vendor.title}`, ['Switch', 'Value', 'What it decides', 'Documented', 'Observed', 'Source'], rows.map(each => row(vendor, each)))];
    }));
    if (!list.childElementCount) put(list, unfit('No switch matches this filter.', () => app.go('settings')));
  }

  function row(vendor, each) {
    const name = `${vendor.id}.${each.name}`;
    const value = known.switches[name];
    const isChanged = value !== each[known.vendor_profiles[vendor.id] ?? known.profile];
    const set = text => change({ switches: { [name]: text } });
    const control = each.choices
      ? select(each.choices, value, set, { label: name })
      : h('input', { label: name, value, title: each.values, onchange: event => set(event.target.value) });
    return [h('code', each.name), [control, isChanged && button('back', () => set(null), { label: `${name} back to the profile`, class: 'link' })],
      each.about, each.documented || '–', each.observed || '–', source(each.source, vendor.id)];
  }

  const update = () => said.run(async () => {
    known ??= await sandbox.get('settings');
    draw();
  });
  return { node, key: search.key, update };
}
