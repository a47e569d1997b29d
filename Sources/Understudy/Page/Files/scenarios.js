// Scenarios: their states drawn from data, the current one lit, and what would happen next in words.

import { h, svg, put, button, outcome, select, empty, repeated } from './dom.js';
import { counted } from './words.js';

export const title = 'Scenarios';

export function view(app, sandbox) {
  const said = outcome();
  const list = h('div.cards');
  const node = h('div.page', h('h1', 'Scenarios'), h('p', 'A scenario is a state machine over the calls of a vendor. It starts when it is activated here.'), said.element, list);
  let drawn = '';

  async function read() {
    const value = await sandbox.get('scenarios?rules=true');
    const text = JSON.stringify(value);
    if (text === drawn) return;
    drawn = text;
    draw(value);
  }

  function draw({ active, available }) {
    const isActive = each => active.find(run => run.scenario === each.scenario);
    const sorted = [...available].sort((a, b) => Boolean(isActive(b)) - Boolean(isActive(a)));
    put(list, available.length ? sorted.map(each => card(each, isActive(each), active)) : empty('The fixtures have no scenarios. Put one into Fixtures/VENDOR/scenarios/NAME.yaml; this lists them:', 'understudy routes --scenarios'));
  }

  function card(each, run, active) {
    const start = select(each.states, each.states[0], null, { 'aria-label': `First state of ${each.scenario}` });
    const others = active.filter(other => other.scenario !== each.scenario).map(other => ({ scenario: other.scenario, state: other.state }));
    const before = { scenarios: active.map(other => ({ scenario: other.scenario, state: other.state })) };
    const change = (content, text) => said.run(async () => {
      await sandbox.call('PUT', 'scenarios', content);
      if (text) app.undo(sandbox, `${each.scenario} ${text}.`, async () => { await sandbox.call('PUT', 'scenarios', before); await read(); });
      await read();
    });
    const loss = { title: `Its state ${run?.state} and its counts go; undoing brings back the state.` };
    const rules = each.rules.filter(rule => rule.state === (run?.state ?? each.states[0]));
    return h(`section.panel${run ? '.active' : ''}`, { 'aria-label': each.scenario },
      h('h2', each.scenario, run ? h('span.badge', `in state ${run.state}`) : null), h('p', each.about),
      graph(each, run),
      h('h3', run ? `What may happen next in ${run.state}` : `First, in ${each.states[0]}`),
      rules.length ? h('ul', rules.map((rule, index) => h('li', words(rule), run ? h('span.note', ` (${counted(run.calls[index] ?? 0, 'such call')} so far)`) : null))) : h('p.note', 'Nothing: calls pass.'),
      h('div.tools', run
        ? [button('Restart', () => change({ scenarios: [...others, each.scenario] }, 'was restarted'), { 'aria-label': `Restart ${each.scenario}`, ...loss }), button('End', () => change({ scenarios: others }, 'has ended'), { 'aria-label': `End ${each.scenario}`, ...loss })]
        : [each.states.length > 1 ? start : null, button('Activate', () => change({ scenarios: [...others, { scenario: each.scenario, state: start.value }] }), { 'aria-label': `Activate ${each.scenario}` })]));
  }

  return repeated(node, read, said, 1000);
}

/** A rule in words: "the 3rd call of addressbook.list: fail token-expired, then to expired". */
function words(rule) {
  const routes = rule.routes.length > 4 ? `${rule.routes.slice(0, 3).join(', ')} and ${rule.routes.length - 3} more` : rule.routes.join(', ');
  return `${rule.calls} of ${routes}${rule.when ? ` when ${rule.when}` : ''}: ${rule.effect || 'passes'}${rule.go ? `, then to ${rule.go}` : ''}`;
}

const [WIDE, HIGH, GAP] = [120, 34, 90];

/** The states from left to right, with an arrow for each transition. */
function graph({ scenario, states, rules }, run) {
  const ways = new Map();
  for (const rule of rules) {
    if (!rule.go) continue;
    const key = `${rule.state}\n${rule.go}`;
    ways.set(key, [...(ways.get(key) ?? []), `${words(rule)}`]);
  }
  const width = states.length * WIDE + (states.length - 1) * GAP + 20;
  const left = index => 10 + index * (WIDE + GAP);
  const nodes = states.map((state, index) => {
    const isCurrent = run?.state === state;
    return svg(isCurrent ? 'g.state.current' : 'g.state', svg('rect', { x: left(index), y: 50, width: WIDE, height: HIGH, rx: 6 }),
      svg('text', { x: left(index) + WIDE / 2, y: 50 + HIGH / 2 + 5, 'text-anchor': 'middle' }, (isCurrent ? '● ' : '') + clipped(state)), svg('title', state));
  });
  const arrows = [...ways].map(([key, texts]) => {
    const [from, to] = key.split('\n').map(state => states.indexOf(state));
    return svg('g.way', svg('path', { d: way(left(from), left(to), from, to), 'marker-end': `url(#arrow-${scenario})` }), svg('title', texts.join('\n')));
  });
  const steps = [...ways.keys()].map(key => key.split('\n').map(state => states.indexOf(state)));
  const top = steps.some(([from, to]) => to === from || to > from + 1) ? 0 : 44;
  const bottom = steps.some(([from, to]) => to < from) ? 134 : 90;
  const said = `${scenario}: ${counted(states.length, 'state')}, ${[...ways.keys()].map(key => key.replace('\n', ' to ')).join(', ') || 'no transitions'}${run ? `; now ${run.state}` : ''}`;
  return h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': `States of ${scenario}` }, svg(`svg.graph${states.length < 3 ? '.narrow' : ''}`, { viewBox: `0 ${top} ${width} ${bottom - top}`, width, height: bottom - top, role: 'img', 'aria-label': said },
    svg('defs', svg('marker', { id: `arrow-${scenario}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, svg('path.head', { d: 'M0 0L8 4L0 8z' }))),
    arrows, nodes));
}

const clipped = text => text.length > 14 ? `${text.slice(0, 13)}…` : text;

function way(from, to, first, second) {
  if (first === second) return `M${from + 40} 50 C${from + 30} 12 ${from + 90} 12 ${from + 80} 48`;
  if (second === first + 1) return `M${from + WIDE} 67 L${to - 1} 67`;
  const depth = second > first ? 6 : 128;
  const edge = second > first ? 50 : 84;
  return `M${from + WIDE / 2} ${edge} C${from + WIDE / 2} ${depth} ${to + WIDE / 2} ${depth} ${to + WIDE / 2} ${second > first ? 48 : 86}`;
}
