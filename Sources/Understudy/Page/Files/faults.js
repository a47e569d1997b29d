// Faults: what is armed, as sentences, and a form that writes one.

import { h, put, button, field, fold, table, outcome, select, code, empty, repeated, submit } from './dom.js';
import { titles } from './api.js';
import { shown } from './words.js';

export const title = 'Faults';

export function view(app, sandbox, all) {
  const said = outcome();
  const list = h('div');
  const form = h('form.panel', { label: 'New fault' });
  const node = h('div.page', h('h1', 'Faults'), h('p', 'A fault makes single calls go wrong, once or repeatedly, and takes precedence over every scenario.'), list, form, said.element);
  let armed = [];

  function draw({ faults }) {
    armed = faults.map(({ calls, strikes, ...order }) => order);
    put(list, faults.length ? [
      table('Armed faults', ['What it does', 'Calls that fit', 'Hit', ''], faults.map((fault, index) => [
        sentence(armed[index], all), fault.calls, fault.strikes,
        button('Disarm', () => disarm(armed.filter((_, other) => other !== index), `Fault ${index + 1} is disarmed.`), { label: `Disarm fault ${index + 1}` })])),
      h('div.tools', button('Disarm all', () => disarm([], 'All are disarmed.')))]
      : empty('No fault is armed. Arm one below or with this line; it hits the next matching call.',
        sandbox.controlLine('PUT', 'faults', { vendor: all[0].id, route: all[0].routes[0].route, fail: all[0].failures[0].failure })));
  }

  async function set(faults, text) {
    await sandbox.call('PUT', 'faults', { faults });
    await live.again();
    said.say(text);
  }

  const disarm = (rest, text) => said.run(async () => {
    const before = armed;
    await set(rest, '');
    app.undo(sandbox, text, () => set(before, 'Armed again; their counts start over.'));
  });

  function make() {
    const parts = {};
    const input = (label, name, extra) => field(label, parts[name] = h('input', { name, ...extra }));
    const choose = (label, name, options, act) => field(label, parts[name] = select(options, null, act, { name }));
    const routes = h('datalist', { id: 'fault-routes' });
    const reads = h('p', { role: 'status' });
    const arm = submit('Arm');
    const number = input('Number', 'number', { type: 'number', min: 0, step: 'any', placeholder: '3' });
    const more = h('div.fields', input('Delay', 'delay', { placeholder: '2s' }), choose('On the wire', 'wire', [['', 'as usual'], ...Object.keys(WIRE)]),
      input('Respond with status', 'status', { type: 'number', min: 200, max: 599 }), input('and this JSON', 'body', { placeholder: '{"message": "busy"}' }));
    put(form, h('h2', 'Arm a fault'), h('div.fields',
      choose('Which calls', 'which', [['', 'all that fit'], ['call', 'the Nth'], ['every', 'every Nth'], ['probability', 'with probability']]), number,
      choose('Vendor', 'vendor', all.map(each => [each.id, each.title]), refill), input('Route', 'route', { list: routes.id, placeholder: 'all; addressbook.*' }), routes,
      choose('Answer with failure', 'fail', []), input('How often', 'times', { placeholder: 'once; 2; always' })),
    fold('Or a delay, a fault on the wire, an answer of your own', () => more), reads, h('div.tools', arm));
    function refill() {
      const chosen = all.find(each => each.id === parts.vendor.value);
      put(routes, [...new Set(chosen.routes.map(each => each.route))].map(value => h('option', { value })));
      put(parts.fail, h('option', { value: '' }, 'no failure'), chosen.failures.map(each => h('option', { value: each.failure }, `${each.status} ${each.failure}`)));
    }
    function preview() {
      number.hidden = !parts.which.value;
      try {
        const fault = order(parts);
        arm.disabled = !(fault.fail || fault.fault || fault.respond);
        put(reads, arm.disabled ? 'Choose what goes wrong: a failure, or something in the folded part.' : sentence(fault, all));
      } catch (problem) { put(reads, `✕ ${problem.message}`); }
    }
    form.addEventListener('input', preview);
    form.addEventListener('submit', event => {
      event.preventDefault();
      said.run(() => set([...armed, order(parts)], 'Armed.'));
    });
    refill();
    preview();
  }

  make();
  const live = repeated(node, said, 1000, () => sandbox.get('faults'), draw);
  return live;
}

function order(parts) {
  const value = name => parts[name].value.trim();
  const fault = { vendor: value('vendor') };
  if (value('route')) fault.route = value('route');
  if (value('which')) fault[value('which')] = Number(value('number') || 1);
  const times = { once: 1, twice: 2 }[value('times')] ?? value('times');
  if (times) fault.times = Number(times) || times;
  if (value('fail')) fault.fail = value('fail');
  if (value('status')) fault.respond = { status: Number(value('status')), ...(value('body') ? { body: JSON.parse(value('body')) } : {}) };
  const wire = { '': null, truncate: { truncate: 10 }, drip: { drip: { chunk: 10, every: '50ms' } } }[value('wire')] ?? value('wire');
  if (value('delay')) fault.fault = { delay: value('delay'), ...(typeof wire === 'object' ? wire : { [wire]: true }) };
  else if (wire) fault.fault = wire;
  return fault;
}

const WIRE = { reset: 'breaks the connection', empty: 'closes it without an answer', garbage: 'answers bytes that are not HTTP', truncate: 'stops within the answer', drip: 'answers in drips' };
const ordinal = number => number + (['th', 'st', 'nd', 'rd'][number % 100 > 10 && number % 100 < 14 ? 0 : number % 10] ?? 'th');

/** A fault as a sentence; what there are no words for follows as JSON. */
function sentence({ vendor, route, call, every, probability, times, fail, respond, fault, ...rest }, all) {
  const which = call ? `The ${ordinal(call)} call` : every ? `Every ${ordinal(every)} call` : probability !== undefined ? `With probability ${probability}, a call` : (times ?? 1) === 1 ? 'The next call' : 'Each call';
  const { delay, ...wire } = typeof fault === 'string' ? { [fault]: true } : fault ?? {};
  const status = all.find(each => each.id === vendor)?.failures.find(each => each.failure === fail)?.status;
  const effects = [delay && `waits ${shown(delay)}`, fail && `answers ${status} ${fail}`, respond && `answers ${respond.status ?? 200}`, ...Object.keys(wire).map(name => WIRE[name] ?? name)];
  const often = times > 2 ? `, ${times} times` : { always: ', always', 2: ', twice' }[times] ?? '';
  return h('span', `${which} of ${route ? [route].flat().join(', ') : titles.get(vendor)} ${effects.filter(Boolean).join(' and ')}${often}.`, Object.keys(rest).length ? code(rest) : null);
}
