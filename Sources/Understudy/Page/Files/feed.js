// The journal as it grows: brief entries, the oldest first, fetched by long polling.

import { query } from './api.js';

const MOST = 10000;
/** The parameters that the API knows; `text` is the page's own. */
export const FILTERS = ['vendor', 'route', 'status', 'failure', 'refused', 'noted', 'unmatched', 'since', 'last'];

/** Entries that a filter admits, followed for as long as somebody listens. */
export class Feed {
  constructor(sandbox, filter, onChange) {
    Object.assign(this, { sandbox, filter, onChange, rows: [], last: 0, problem: null, isFirst: true });
    this.controller = new AbortController();
    this.follow();
  }

  stop() { this.controller.abort(); }

  async follow() {
    const { signal } = this.controller;
    while (!signal.aborted) {
      try {
        await visible(signal);
        await this.read(signal);
        this.problem = null;
        // At most five polls a second, however many entries come.
        await pause(200);
      } catch (problem) {
        if (signal.aborted) return;
        this.problem = problem;
        this.onChange(this);
        if (problem.status === 400) return;
        await pause(1000);
      }
    }
  }

  async read(signal) {
    const { last, ...rest } = this.filter;
    const wait = this.isFirst ? {} : { wait: '20s', count: 1 };
    const given = this.isFirst ? { last: last ?? MOST } : {};
    const answer = await this.sandbox.get('journal' + query({ ...rest, format: 'brief', after: this.last, ...given, ...wait }), signal);
    // The journal was cleared or its sandbox reset: numbers may begin again.
    if (answer.newest < this.last) {
      Object.assign(this, { rows: [], last: 0 });
      this.onChange(this);
    }
    for (const entry of answer.entries) if (entry.id > this.last) this.rows.push(entry);
    if (this.rows.length > MOST) this.rows.splice(0, this.rows.length - MOST);
    this.last = Math.max(this.last, this.rows.at(-1)?.id ?? 0, this.isFirst ? answer.newest : 0);
    const isNews = answer.entries.length || this.isFirst || this.problem;
    this.isFirst = false;
    if (isNews) this.onChange(this);
  }
}

/** A hidden page sends nothing: a browser has six connections to a server, for all its pages together. */
const visible = signal => new Promise(resolve => {
  if (!document.hidden) return resolve();
  document.addEventListener('visibilitychange', resolve, { once: true, signal });
  signal.addEventListener('abort', resolve, { once: true });
});

const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
