// The calls of the last five minutes by the sandbox's clock: a bar for each five seconds, which leads to its calls.

import { h, svg, put } from './dom.js';
import { counted, kind, unix, timeOfDay } from './words.js';

export const STEP = 5;
const [BARS, WIDE, HIGH] = [60, 10, 36];
const KINDS = ['fine', 'noted', 'intervened', 'unmatched', 'refused'];
const clock = seconds => timeOfDay(new Date(seconds * 1000).toISOString());

export function timeline(app) {
  const bars = svg('svg', { viewBox: `0 0 ${BARS * WIDE} ${HIGH}`, preserveAspectRatio: 'none', role: 'group', label: 'Calls of the last five minutes' });
  const legend = h('span.note');
  let drawn = '';

  function draw(entries, chosen) {
    const first = (Math.floor(app.now() / STEP) + 1 - BARS) * STEP;
    const counts = new Map();
    for (const entry of entries) {
      entry.unix ??= unix(entry.at);
      const bar = Math.floor((entry.unix - first) / STEP);
      if (bar < 0 || bar >= BARS) continue;
      const { name } = kind(entry);
      const count = counts.get(bar) ?? { all: 0 };
      counts.set(bar, { ...count, all: count.all + 1, [name]: (count[name] ?? 0) + 1 });
    }
    const key = JSON.stringify([first, chosen, ...counts]);
    if (key === drawn) return;
    drawn = key;
    const most = Math.max(0, ...[...counts.values()].map(count => count.all));
    put(bars, [...counts].map(([bar, count]) => drawBar(bar, count, most, first + bar * STEP, chosen)));
    put(legend, most ? `last 5 min, at most ${most / STEP} calls/s` : 'no calls in the last 5 min', chosen && [' · ', h('a', { href: app.link({ at: null }) }, `only ${clock(chosen)} ✕`)]);
  }

  function drawBar(bar, count, most, from, chosen) {
    const kinds = KINDS.filter(name => count[name]);
    const said = `${clock(from)}: ${counted(count.all, 'call')}, ${kinds.map(name => `${count[name]} ${name}`).join(', ')}`;
    const x = bar * WIDE;
    let y = HIGH;
    return svg(from === chosen ? 'a.chosen' : 'a', { href: app.link({ at: from === chosen ? null : from }), label: said, tabindex: -1 },
      svg('rect.ground', { x, y: 0, width: WIDE, height: HIGH }),
      kinds.map(name => {
        const height = count[name] / most * HIGH;
        y -= height;
        return svg(`rect.${name}`, { x, y, width: WIDE - 2, height });
      }), svg('title', said));
  }

  return { draw, element: h('div.timeline', bars, legend) };
}
