// The list of entries: only rows in sight exist, so that ten thousand stay smooth.

import { h, put, button } from './dom.js';
import { titles } from './api.js';
import { kind, sentence, timeOfDay, absolute } from './words.js';

const narrow = matchMedia('(max-width: 640px)');

export class Rows {
  constructor(app) {
    Object.assign(this, { app, rows: [], shown: [], horizon: Infinity, chosen: null, isPaused: false });
    this.body = h('div.rows', { role: 'rowgroup' });
    this.more = h('div.more', { 'aria-live': 'polite' });
    this.scroller = h('div.scroller', { onscroll: () => this.onScroll() }, this.body);
    this.heads = h('div.heads', { role: 'row' },
      ['Time', 'Status', 'Vendor', 'Route', 'What happened'].map(name => h('span', { role: 'columnheader' }, name)));
    this.element = h('div.list', { role: 'table', label: 'Journal' }, this.heads, this.more, this.scroller);
    this.made = new Map();
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.scroller);
  }

  close() { this.watch.disconnect(); }

  /** Beside an entry, and on a phone, a row has two lines. */
  get height() { return narrow.matches || this.chosen !== null ? 52 : 32; }

  /** Takes over entries; what is new stays above the line while somebody reads. */
  set(rows) {
    this.rows = rows;
    this.settle();
  }

  /** Whether the reader must not lose the place: an entry is open, the list was scrolled, or is paused. */
  get isHeld() { return this.isPaused || this.chosen !== null || this.scroller.scrollTop > 4; }

  choose(id) {
    const { height, scroller: { scrollTop } } = this;
    this.chosen = id;
    if (this.height !== height) {
      this.draw();
      this.scroller.scrollTop = scrollTop * this.height / height;
    }
    this.isToShow = id !== null;
    this.settle();
  }

  /** Brings the chosen entry into sight once, when it was opened by its address. */
  showChosen() {
    const index = this.shown.findIndex(entry => entry.id === this.chosen);
    if (!this.isToShow || index < 0) return;
    this.isToShow = false;
    this.reveal(index);
  }

  reveal(index) {
    const { height, scroller } = this;
    scroller.scrollTop = Math.min(index * height, Math.max(scroller.scrollTop, (index + 1) * height - scroller.clientHeight));
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
    const newer = this.horizon === Infinity ? 0 : this.rows.length - 1 - this.rows.findLastIndex(entry => entry.id <= this.horizon);
    this.shown = this.rows.slice(0, this.rows.length - newer).reverse();
    // What was dropped at the far end moves nothing; what came above is left out while somebody reads.
    put(this.more, newer > 0 && button(`${newer} new`, () => this.release(), { class: 'link' }));
    this.element.ariaRowCount = this.shown.length;
    this.draw();
    this.showChosen();
  }

  release() {
    this.horizon = this.isPaused || this.chosen !== null ? this.rows.at(-1)?.id ?? 0 : Infinity;
    this.scroller.scrollTop = 0;
    this.refresh();
  }

  onScroll() {
    if (this.isHeld === (this.horizon === Infinity)) this.settle();
    else this.draw();
  }

  draw() {
    const { height } = this;
    this.element.classList.toggle('tall', height > 32);
    this.body.style.height = `${this.shown.length * height}px`;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / height) - 5);
    const last = Math.min(this.shown.length, first + Math.ceil(this.scroller.clientHeight / height) + 10);
    const before = this.made;
    this.made = new Map();
    for (let index = first; index < last; index += 1) {
      const { id } = this.shown[index];
      const row = before.get(id) ?? this.row(this.shown[index]);
      before.delete(id);
      this.made.set(id, row);
      if (!row.parentNode) this.body.append(row);
      row.style.top = `${index * height}px`;
      row.ariaRowIndex = index + 1;
      row.classList.toggle('chosen', id === this.chosen);
      row.ariaCurrent = id === this.chosen || null;
    }
    for (const row of before.values()) row.remove();
  }

  row(entry) {
    const { name, sign, word } = kind(entry);
    const reason = sentence(entry);
    const what = entry.route ?? `${entry.method} ${entry.target}`;
    const cell = (type, ...parts) => h(`span.${type}`, { role: 'cell' }, parts);
    return h(`div.row.${name}`, { role: 'row', onclick: event => { if (event.target.tagName !== 'A') this.app.change({ entry: entry.id }); } },
      cell('time', h('time', { datetime: entry.at, title: absolute(entry.at) }, timeOfDay(entry.at))),
      cell('status', `${entry.status} `, h('span.sign', { label: word, role: 'img', title: word }, sign)),
      cell('vendor', titles.get(entry.vendor) ?? '–'),
      cell('route', { title: `${entry.method} ${entry.target}` }, what),
      cell('reason', h('a', { href: this.app.link({ entry: entry.id }), 'data-id': entry.id, title: reason },
        reason || `${entry.method} ${entry.target}`)));
  }

  /** Moves the focus a row down or up, from the chosen one if no row has it. */
  move(step) {
    const focused = Number(document.activeElement?.dataset?.id) || this.chosen;
    const at = this.shown.findIndex(entry => entry.id === focused);
    const next = Math.min(this.shown.length - 1, Math.max(0, at < 0 ? 0 : at + step));
    this.reveal(next);
    this.draw();
    this.made.get(this.shown[next]?.id)?.querySelector('a')?.focus();
  }
}
