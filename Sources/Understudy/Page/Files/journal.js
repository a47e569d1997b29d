// The journal: filters that are the API's query, the live list, and the entry that is open.

import { h, put, button, select, copier, empty, unfit } from './dom.js';
import { vendors, query } from './api.js';
import { Feed, FILTERS } from './feed.js';
import { Rows } from './rows.js';
import { openEntry } from './entry.js';
import { compareEntries } from './compare.js';
import { intervened } from './words.js';

export const title = 'Journal';

export function view(app, sandbox) {
  const abouts = new Map();
  const rows = new Rows({ open: id => app.change({ entry: id }), abouts });
  rows.address = id => app.link({ entry: id });
  const detail = h('section.detail', { 'aria-label': 'Entry' });
  const nothing = h('div');
  const bar = h('form.filters', { role: 'search', 'aria-label': 'Filter', onsubmit: event => event.preventDefault() });
  const list = h('div.listing', bar, nothing, rows.element);
  const node = h('div.journal', list, detail);
  let feed = null;
  let filter = null;
  let text = '';
  let isPaused = false;
  let shownEntry = '';
  let shownNothing = '';

  vendors().then(all => {
    for (const vendor of all) for (const failure of vendor.failures) abouts.set(`${vendor.id} ${failure.failure}`, failure.about);
    // The controls stay where they are: somebody may be about to click one.
    controls.vendor.append(...all.map(vendor => h('option', { value: vendor.id }, vendor.title)));
    put(routes, [...new Set(all.flatMap(vendor => vendor.routes.map(route => route.route)))].map(route => h('option', { value: route })));
    update(app.params);
    rows.redraw();
  }).catch(() => {});

  const routes = h('datalist', { id: 'routes' });
  const controls = makeControls();

  function makeControls() {
    const any = name => [['', name]];
    const set = name => value => app.change({ [name]: value || null });
    const made = {
      text: h('input', { type: 'search', placeholder: 'Filter  /', 'aria-label': 'Free text', oninput: () => app.change({ text: made.text.value || null }, true) }),
      vendor: select(any('all vendors'), '', set('vendor'), { 'aria-label': 'Vendor' }),
      route: h('input', { list: 'routes', placeholder: 'route or pattern', 'aria-label': 'Route', onchange: () => set('route')(made.route.value.trim()) }),
      status: select([...any('any status'), '2xx', '3xx', '4xx', '5xx', '400', '401', '403', '404', '409', '429', '500', '503'], '', set('status'), { 'aria-label': 'Status' }),
      since: select([...any('any time'), ['1m', 'last minute'], ['5m', 'last 5 min'], ['1h', 'last hour']], '', set('since'), { 'aria-label': 'Since' }),
      refused: toggle('Refused', 'refused'),
      noted: toggle('Noted', 'noted'),
      unmatched: toggle('Unmatched', 'unmatched'),
    };
    const pause = button('Pause', () => {
      isPaused = !isPaused;
      pause.textContent = isPaused ? 'Resume' : 'Pause';
      pause.setAttribute('aria-pressed', isPaused);
      rows.pause(isPaused);
    }, { 'aria-pressed': 'false' });
    const exports = h('span.exports', copier('HAR', () => exported('har'), { 'aria-label': 'Copy as HAR' }), copier('Hurl', () => exported('hurl'), { 'aria-label': 'Copy as Hurl' }));
    put(bar, Object.values(made), pause, exports, routes);
    return made;
  }

  function toggle(name, parameter) {
    const box = h('input', { type: 'checkbox', onchange: () => app.change({ [parameter]: box.checked ? 'true' : null }) });
    return h('label.toggle', box, name);
  }

  async function exported(format) {
    const value = await sandbox.get('journal' + query({ ...filter, format }));
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  }

  function onChange() {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? feed.rows.filter(entry => {
      const all = `${entry.id} ${entry.status} ${entry.vendor} ${entry.route} ${entry.method} ${entry.target} ${entry.failure} ${entry.reason} ${entry.note} ${intervened(entry) ?? ''}`.toLowerCase();
      return words.every(word => all.includes(word));
    }) : feed.rows;
    rows.set(found);
    rows.element.hidden = !found.length;
    const state = feed.problem?.message ?? (found.length || feed.isFirst ? '' : `empty ${text} ${JSON.stringify(filter)}`);
    // What is shown stays: somebody may be about to copy it.
    if (state === shownNothing) return;
    shownNothing = state;
    put(nothing, feed.problem ? h('p.outcome.bad', { role: 'status' }, '✕ ', state) : state ? emptiness() : null);
  }

  function emptiness() {
    const isFiltered = text || Object.keys(filter).length;
    if (isFiltered && feed) return unfit('No entry matches these filters.', () => app.go('journal'));
    return empty('No calls yet. Point the app at this address, or send one:', vendors().then(([first]) => sandbox.sampleLine(first.id)));
  }

  function update(params) {
    const wanted = Object.fromEntries(FILTERS.filter(name => params.get(name)).map(name => [name, params.get(name)]));
    for (const [name, control] of Object.entries(controls)) {
      const box = control.querySelector?.('input');
      if (box) box.checked = params.get(name) === 'true';
      else if (document.activeElement !== control) control.value = params.get(name) ?? '';
    }
    const isText = text !== (params.get('text') ?? '');
    text = params.get('text') ?? '';
    if (!feed || JSON.stringify(filter) !== JSON.stringify(wanted)) {
      feed?.stop();
      filter = wanted;
      rows.horizon = Infinity;
      feed = new Feed(sandbox, filter, onChange);
    } else if (isText) onChange();
    show(params);
  }

  function show(params) {
    const id = Number(params.get('entry')) || null;
    const other = Number(params.get('with')) || null;
    rows.choose(id);
    node.classList.toggle('open', id !== null);
    const key = `${id} ${other}`;
    if (key === shownEntry) return;
    shownEntry = key;
    if (!id) return put(detail, h('p.hint', 'Choose an entry to see why it came out as it did.'));
    const close = () => app.change({ entry: null, with: null });
    if (other) compareEntries(detail, sandbox, id, other, app, close);
    else openEntry(detail, sandbox, id, app, abouts, close);
  }

  function key(event) {
    if (event.key === '/') { controls.text.focus(); return true; }
    if (event.key === 'j' || event.key === 'k') { rows.move(event.key === 'j' ? 1 : -1); return true; }
    if (event.key === 'c') { detail.querySelector('[data-key=c]')?.click(); return true; }
    if (event.key === 'Escape' && app.params.get('entry')) { app.change({ entry: null, with: null }); return true; }
    return false;
  }

  return { node, update, key, close: () => { feed?.stop(); rows.close(); } };
}
