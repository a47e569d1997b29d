// Scenarios: their states as a graph, and what would happen next in words.

import { h, svg, put, button, outcome, select, empty, region, repeated } from './dom.js';
import { counted } from './words.js';

export const title = 'Scenarios';

export function view(app, sandbox) {
  const said = outcome();
  const list = h('div.cards');
  const node = h('div.page', h('h1', 'Scenarios'), h('p', 'A scenario is a state machine over the calls of a vendor.'), said.element, list);
  function draw({ active, available }) {
    const all = available.map(each => [each, active.find(run => run.scenario === each.scenario)]).sort(([, one], [, other]) => Boolean(other) - Boolean(one));
    put(list, all.length ? all.map(([each, run]) => card(each, run, active)) : empty('The fixtures have no scenarios. Put one into Fixtures/VENDOR/scenarios/NAME.yaml; this lists them:', 'understudy routes --scenarios'));
  }

  function card(each, run, active) {
    const start = select(each.states, each.states[0], null, { label: `First state of ${each.scenario}` });
    const before = active.map(({ scenario, state }) => ({ scenario, state }));
    const others = before.filter(({ scenario }) => scenario !== each.scenario);
    const set = async scenarios => {
      await sandbox.call('PUT', 'scenarios', { scenarios });
      await live.again();
    };
    const change = (scenarios, text) => said.run(async () => {
      await set(scenarios);
      if (text) app.undo(sandbox, `${each.scenario} ${text}.`, () => set(before));
    });
    const rules = each.rules.filter(rule => rule.state === (run?.state ?? each.states[0]));
    return h(`section.panel${run ? '.active' : ''}`, { label: each.scenario },
      h('h2', each.scenario, run && h('span.badge', `in state ${run.state}`)), h('p', each.about),
      graph(each, run),
      h('h3', run ? `What may happen next in ${run.state}` : `First, in ${each.states[0]}`),
      rules.length ? h('ul', rules.map((rule, index) => h('li', words(rule), run ? h('span.note', ` (${counted(run.calls[index] ?? 0, 'such call')} so far)`) : null))) : h('p.note', 'Nothing: calls pass.'),
      h('div.tools', run
        ? [button('Restart', () => change([...others, each.scenario], 'was restarted'), { label: `Restart ${each.scenario}` }), button('End', () => change(others, 'has ended'), { label: `End ${each.scenario}` })]
        : [each.states.length > 1 ? start : null, button('Activate', () => change([...others, { scenario: each.scenario, state: start.value }]), { label: `Activate ${each.scenario}` })]));
  }

  const live = repeated(node, said, 1000, () => sandbox.get('scenarios?rules=true'), draw);
  return live;
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
  for (const rule of rules) if (rule.go) ways.set(`${rule.state} to ${rule.go}`, [states.indexOf(rule.state), states.indexOf(rule.go), ...(ways.get(`${rule.state} to ${rule.go}`) ?? []).slice(2), words(rule)]);
  const width = states.length * (WIDE + GAP) - GAP + 20;
  const left = index => 10 + index * (WIDE + GAP);
  const nodes = states.map((state, index) => {
    const isCurrent = run?.state === state;
    return svg(isCurrent ? 'g.current' : 'g', svg('rect', { x: left(index), y: 50, width: WIDE, height: HIGH, rx: 6 }),
      svg('text', { x: left(index) + WIDE / 2, y: 50 + HIGH / 2 + 5, 'text-anchor': 'middle' }, (isCurrent ? '● ' : '') + clipped(state)), svg('title', state));
  });
  const arrows = [...ways.values()].map(([from, to, ...texts]) => svg('g.way',
    svg('path', { d: way(left(from), left(to), from, to), 'marker-end': `url(#arrow-${scenario})` }), svg('title', texts.join('\n'))));
  const top = [...ways.values()].some(([from, to]) => to === from || to > from + 1) ? 0 : 44;
  const bottom = [...ways.values()].some(([from, to]) => to < from) ? 134 : 90;
  const said = `${scenario}: ${counted(states.length, 'state')}, ${[...ways.keys()].join(', ') || 'no transitions'}${run ? `; now ${run.state}` : ''}`;
  return region(`States of ${scenario}`, svg(`svg.graph${states.length < 3 ? '.narrow' : ''}`, { viewBox: `0 ${top} ${width} ${bottom - top}`, width, height: bottom - top, role: 'img', label: said },
    svg('defs', svg('marker', { id: `arrow-${scenario}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, svg('path', { d: 'M0 0L8 4L0 8z' }))),
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
