// The journal: filters as in the API's query, the live list, the open entry.

import { h, put, button, select, copier, empty, unfit, searchBox } from './dom.js';
import { query } from './api.js';
import { Feed, FILTERS } from './feed.js';
import { Rows } from './rows.js';
import { openEntry } from './entry.js';
import { compareEntries } from './compare.js';
import { STEP, timeline } from './timeline.js';
import { intervened } from './words.js';

export const title = 'Journal';

export function view(app, sandbox, all) {
  const rows = new Rows(app);
  const detail = h('section.detail', { label: 'Entry' });
  const nothing = h('div');
  const bar = h('form.filters', { role: 'search', label: 'Filter', onsubmit: event => event.preventDefault() });
  const chart = timeline(app);
  const list = h('div.listing', bar, chart.element, nothing, rows.element);
  const node = h('div.journal', list, detail);
  let feed = null;
  let filter = null;
  let text = '';
  let at = null;
  let latest = 0;
  let isPaused = false;
  let shownEntry = '';
  let shownNothing = '';

  const routes = h('datalist', { id: 'routes' }, [...new Set(all.flatMap(vendor => vendor.routes.map(route => route.route)))].map(value => h('option', { value })));
  const search = searchBox(app);
  const controls = makeControls();

  function makeControls() {
    const any = name => [['', name]];
    const set = name => value => app.change({ [name]: value || null });
    const made = {
      text: search.element,
      vendor: select([...any('all vendors'), ...all.map(each => [each.id, each.title])], '', set('vendor'), { label: 'Vendor' }),
      route: h('input', { list: 'routes', placeholder: 'route or a.*', label: 'Route', onchange: () => set('route')(made.route.value.trim()) }),
      status: select([...any('any status'), '2xx', '3xx', '4xx', '5xx', '400', '401', '403', '404', '409', '429', '500', '503'], '', set('status'), { label: 'Status' }),
      since: select([...any('any time'), ['1m', 'last minute'], ['5m', 'last 5 min'], ['1h', 'last hour']], '', set('since'), { label: 'Since' }),
      refused: toggle('Refused', 'refused'),
      noted: toggle('Noted', 'noted'),
      unmatched: toggle('Unmatched', 'unmatched'),
    };
    const pause = button('Pause', () => {
      isPaused = !isPaused;
      pause.textContent = isPaused ? 'Resume' : 'Pause';
      pause.ariaPressed = isPaused;
      rows.pause(isPaused);
    }, { 'aria-pressed': 'false' });
    const exports = h('span.exports', copier('HAR', () => exported('har'), { label: 'Copy as HAR' }), copier('Hurl', () => exported('hurl'), { label: 'Copy as Hurl' }));
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
    chart.draw(feed.rows, at);
    chart.element.hidden = !feed.rows.length;
    const found = words.length || at ? feed.rows.filter(entry => {
      if (at && !(entry.unix >= at && entry.unix < at + STEP)) return false;
      const all = `${Object.values(entry).join(' ')} ${intervened(entry)}`.toLowerCase();
      return words.every(word => all.includes(word));
    }) : feed.rows;
    rows.set(found);
    rows.element.hidden = !found.length;
    const state = feed.problem?.message ?? (found.length || feed.isFirst ? '' : `empty ${text} ${at} ${JSON.stringify(filter)}`);
    // What is shown stays: somebody may be about to copy it.
    if (state === shownNothing) return;
    shownNothing = state;
    put(nothing, feed.problem ? feed.problem.code !== 'gone' && h('p.bad', { role: 'status' }, '✕ ', state) : state && emptiness());
  }

  function emptiness() {
    if (text || at || Object.keys(filter).length) return unfit('No entry matches these filters.', () => app.go('journal'));
    return empty('No calls yet. Point the app at this address, or send one:', sandbox.sampleLine(all[0].id));
  }

  function update(params) {
    const wanted = Object.fromEntries(FILTERS.filter(name => params.get(name)).map(name => [name, params.get(name)]));
    for (const [name, control] of Object.entries(controls)) {
      const box = control.querySelector?.('input');
      if (box) box.checked = params.get(name) === 'true';
      else if (document.activeElement !== control) control.value = params.get(name) ?? '';
    }
    const before = `${text} ${at}`;
    text = params.get('text') ?? '';
    at = Number(params.get('at')) || null;
    if (!feed || JSON.stringify(filter) !== JSON.stringify(wanted)) {
      feed?.stop();
      filter = wanted;
      rows.horizon = Infinity;
      feed = new Feed(sandbox, filter, onChange);
    } else if (before !== `${text} ${at}`) onChange();
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
    if (!id) return put(detail);
    const read = async () => {
      const turn = ++latest;
      const shown = await (other ? compareEntries(id, other, app, sandbox, close) : openEntry(id, app, sandbox, close, read))
        .catch(problem => [h('p.bad', { role: 'alert' }, '✕ ', problem.message), button('Close', close)]);
      // Another one may have been asked for meanwhile.
      if (turn !== latest) return;
      put(detail, shown);
      if (document.body.clientWidth <= 900) detail.scrollIntoView({ block: 'start' });
    };
    read();
  }

  const close = () => app.change({ entry: null, with: null });
  const keys = { j: () => rows.move(1), k: () => rows.move(-1), c: () => detail.querySelector('[data-key=c]')?.click(), Escape: () => app.params.get('entry') && close() };
  function key(event) {
    keys[event.key]?.();
    return event.key in keys || search.key(event);
  }

  // Time passes without calls, too.
  const passing = setInterval(() => feed && chart.draw(feed.rows, at), 1000);
  return { node, update, key, close: () => { clearInterval(passing); feed?.stop(); rows.close(); } };
}
