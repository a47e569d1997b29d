// The list of entries: only the rows in sight are there, so that ten thousand stay smooth.

import { h, put, button } from './dom.js';
import { kind, sentence, timeOfDay, absolute } from './words.js';

const narrow = matchMedia('(max-width: 640px)');

export class Rows {
  constructor({ open, abouts }) {
    Object.assign(this, { open, abouts, rows: [], shown: [], horizon: Infinity, chosen: null, isPaused: false });
    this.body = h('div.rows', { role: 'rowgroup' });
    this.more = h('div.more', { 'aria-live': 'polite' });
    this.scroller = h('div.scroller', { onscroll: () => this.onScroll() }, this.body);
    this.heads = h('div.heads', { role: 'row' },
      ['Time', 'Status', 'Vendor', 'Route', 'Reason'].map(name => h('span', { role: 'columnheader' }, name)));
    this.element = h('div.list', { role: 'table', 'aria-label': 'Journal' }, this.heads, this.more, this.scroller);
    this.made = new Map();
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.scroller);
  }

  close() { this.watch.disconnect(); }

  get height() { return narrow.matches ? 52 : 32; }

  /** Takes over entries; what is new stays above the line while somebody reads. */
  set(rows) {
    this.rows = rows;
    this.settle();
  }

  /** Whether the reader must not lose the place: an entry is open, the list was scrolled, or is paused. */
  get isHeld() { return this.isPaused || this.chosen !== null || this.scroller.scrollTop > 4; }

  choose(id) {
    this.chosen = id;
    this.isToShow = id !== null;
    this.settle();
  }

  /** Brings the chosen entry into sight once, when it was opened by its address. */
  showChosen() {
    const index = this.shown.findIndex(entry => entry.id === this.chosen);
    if (!this.isToShow || index < 0) return;
    this.isToShow = false;
    const [top, { height, scroller }] = [index * this.height, this];
    if (top < scroller.scrollTop || top + height > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top - scroller.clientHeight / 2;
  }

  pause(isPaused) {
    this.isPaused = isPaused;
    this.settle();
  }

  settle() {
    const newest = this.rows.at(-1)?.id ?? 0;
    if (!this.isHeld || !this.rows.length) this.horizon = Infinity;
    else if (this.horizon === Infinity) this.horizon = this.shown[0]?.id ?? newest;
    this.refresh();
  }

  refresh() {
    const isNewer = this.horizon === Infinity ? 0 : this.rows.length - firstAfter(this.rows, this.horizon);
    this.shown = (isNewer ? this.rows.slice(0, this.rows.length - isNewer) : this.rows.slice()).reverse();
    // What was dropped at the far end moves nothing; what came above is left out while somebody reads.
    const news = isNewer ? button(`${isNewer} new`, () => this.release(), { class: 'link' }) : null;
    put(this.more, news);
    this.element.setAttribute('aria-rowcount', this.shown.length);
    this.draw();
    this.showChosen();
  }

  release() {
    this.horizon = this.isPaused || this.chosen !== null ? this.rows.at(-1)?.id ?? 0 : Infinity;
    this.scroller.scrollTop = 0;
    this.refresh();
  }

  onScroll() {
    if (!this.isHeld && this.horizon !== Infinity) this.settle();
    else if (this.isHeld && this.horizon === Infinity) this.settle();
    this.draw();
  }

  draw() {
    const { height } = this;
    this.body.style.height = `${this.shown.length * height}px`;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / height) - 5);
    const last = Math.min(this.shown.length, first + Math.ceil(this.scroller.clientHeight / height) + 10);
    const wanted = new Map(this.shown.slice(first, last).map((entry, index) => [entry.id, { entry, index: first + index }]));
    for (const [id, row] of this.made) {
      if (wanted.has(id)) continue;
      row.remove();
      this.made.delete(id);
    }
    for (const [id, { entry, index }] of wanted) {
      let row = this.made.get(id);
      if (!row) {
        row = this.row(entry);
        this.made.set(id, row);
        this.body.append(row);
      }
      row.style.top = `${index * height}px`;
      row.setAttribute('aria-rowindex', index + 1);
      row.classList.toggle('chosen', id === this.chosen);
      if (id === this.chosen) row.setAttribute('aria-current', 'true'); else row.removeAttribute('aria-current');
    }
  }

  /** Rebuilds every row, since what failures mean is known now. */
  redraw() {
    const focused = Number(document.activeElement?.dataset?.id);
    for (const row of this.made.values()) row.remove();
    this.made.clear();
    this.draw();
    this.made.get(focused)?.querySelector('a')?.focus();
  }

  row(entry) {
    const { name, sign, word } = kind(entry);
    const reason = sentence(entry, this.abouts.get(`${entry.vendor} ${entry.failure}`));
    const what = entry.route ?? `${entry.method} ${entry.target}`;
    const cell = (type, ...parts) => h(`span.${type}`, { role: 'cell' }, parts);
    return h(`div.row.${name}`, { role: 'row', onclick: event => { if (event.target.tagName !== 'A') this.open(entry.id); } },
      cell('time', h('time', { datetime: entry.at, title: absolute(entry.at) }, timeOfDay(entry.at))),
      cell('status', `${entry.status} `, h('span.sign', { 'aria-label': word, role: 'img', title: word }, sign)),
      cell('vendor', entry.vendor ?? '–'),
      cell('route', { title: `${entry.method} ${entry.target}` }, what),
      cell('reason', h('a', { href: this.address(entry.id), 'data-id': entry.id, title: reason },
        reason || `${entry.method} ${entry.target}`)));
  }

  address = () => '#';

  /** Moves the focus a row down or up, from the chosen one if no row has it. */
  move(step) {
    const focused = Number(document.activeElement?.dataset?.id) || this.chosen;
    const at = this.shown.findIndex(entry => entry.id === focused);
    const next = Math.min(this.shown.length - 1, Math.max(0, at < 0 ? 0 : at + step));
    const { height } = this;
    const [top, bottom] = [next * height, (next + 1) * height];
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (bottom > this.scroller.scrollTop + this.scroller.clientHeight) this.scroller.scrollTop = bottom - this.scroller.clientHeight;
    this.draw();
    this.made.get(this.shown[next]?.id)?.querySelector('a')?.focus();
  }
}

/** The index of the first entry beyond that number, in a list by number. */
function firstAfter(rows, id) {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].id <= id) low = middle + 1; else high = middle;
  }
  return low;
}
