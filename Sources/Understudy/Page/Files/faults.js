// Faults: what is armed and has struck, and a form that arms another.

import { h, put, button, field, table, outcome, select, code, empty, repeated } from './dom.js';
import { vendors } from './api.js';

export const title = 'Faults';

const OWN = ['calls', 'strikes'];

export function view(app, sandbox) {
  const said = outcome();
  const list = h('div');
  const form = h('form.panel', { 'aria-label': 'New fault' });
  const node = h('div.page', h('h1', 'Faults'), h('p', 'A fault makes single calls go wrong, once or repeatedly, and takes precedence over every scenario.'), list, form, said.element);
  let armed = [];
  let drawn = '';

  const orders = () => armed.map(fault => Object.fromEntries(Object.entries(fault).filter(([name]) => !OWN.includes(name))));

  async function read() {
    const { faults } = await sandbox.get('faults');
    if (JSON.stringify(faults) !== drawn) draw(faults);
  }

  function draw(faults) {
    armed = faults;
    drawn = JSON.stringify(faults);
    put(list, faults.length ? [
      table('Armed faults', ['Vendor', 'Where and what', 'Calls', 'Strikes', ''], faults.map((fault, index) => [
        fault.vendor, code(Object.fromEntries(Object.entries(fault).filter(([name]) => !OWN.includes(name) && name !== 'vendor'))), fault.calls, fault.strikes,
        button('Disarm', () => disarm(orders().filter((_, other) => other !== index), `Fault ${index + 1} is disarmed.`), { 'aria-label': `Disarm fault ${index + 1}`, title: 'You can undo this; its counts start over.' })])),
      h('div.tools', button('Disarm all', () => disarm([], 'All are disarmed.'), { title: 'You can undo this; their counts start over.' }))]
      : empty('No fault is armed. Arm one with the form below or with this line; it hits the next matching call.', vendors().then(([{ id, routes, failures }]) =>
        sandbox.controlLine('PUT', 'faults', { vendor: id, route: routes[0].route, fail: failures[0].failure }))));
  }

  async function set(faults, text) {
    draw((await sandbox.call('PUT', 'faults', { faults })).faults);
    said.say(text);
  }

  const disarm = (rest, text) => said.run(async () => {
    const before = orders();
    await set(rest, '');
    app.undo(sandbox, text, () => set(before, 'Armed again; their counts start over.'));
  });

  function make(all) {
    const parts = {};
    const input = (name, extra) => (parts[name] = h('input', { name, ...extra }));
    const choose = (name, options, act) => (parts[name] = select(options, null, act, { name }));
    const vendor = choose('vendor', all.map(each => [each.id, each.title]), refill);
    const routes = h('datalist', { id: 'fault-routes' });
    const fail = choose('fail', []);
    const which = choose('which', [['', 'every such call'], ['call', 'the call of number'], ['every', 'every Nth call'], ['probability', 'each with probability']]);
    function refill() {
      const chosen = all.find(each => each.id === vendor.value) ?? all[0];
      put(routes, [...new Set(chosen.routes.map(route => route.route))].map(route => h('option', { value: route })));
      put(fail, h('option', { value: '' }, 'no failure'), chosen.failures.map(each => h('option', { value: each.failure }, `${each.status} ${each.failure}`)));
    }
    put(form, h('h2', 'Arm a fault'), h('div.fields',
      field('Vendor', vendor), field('Route', input('route', { list: 'fault-routes', placeholder: 'all; addressbook.*' })), routes,
      field('Which calls', which), field('Number', input('number', { type: 'number', min: 0, step: 'any', placeholder: '3' })),
      field('How often', input('times', { placeholder: 'once; 2; always' })),
      field('Answer with failure', fail),
      field('On the wire', choose('wire', [['', 'as usual'], 'reset', 'empty', 'garbage', 'truncate', 'drip'])), field('Delay', input('delay', { placeholder: '2s' })),
      field('Or respond with status', input('status', { type: 'number', min: 200, max: 599 })), field('and this JSON', input('body', { placeholder: '{"message": "busy"}' }))),
    h('div.tools', h('button', { type: 'submit' }, 'Arm')));
    refill();
    form.addEventListener('submit', event => {
      event.preventDefault();
      said.run(async () => set([...orders(), order(parts)], 'Armed.'));
    });
  }

  vendors().then(make).catch(said.fail);
  return repeated(node, read, said, 1000);
}

function order(parts) {
  const value = name => parts[name].value.trim();
  const fault = { vendor: value('vendor') };
  if (value('route')) fault.route = value('route');
  if (value('which')) fault[value('which')] = Number(value('number') || 1);
  if (value('times')) fault.times = /^\d+$/.test(value('times')) ? Number(value('times')) : value('times');
  if (value('fail')) fault.fail = value('fail');
  if (value('status')) fault.respond = { status: Number(value('status')), ...(value('body') ? { body: JSON.parse(value('body')) } : {}) };
  const wire = { '': null, truncate: { truncate: 10 }, drip: { drip: { chunk: 10, every: '50ms' } } }[value('wire')] ?? value('wire');
  if (value('delay')) fault.fault = { delay: value('delay'), ...(typeof wire === 'object' ? wire : { [wire]: true }) };
  else if (wire) fault.fault = wire;
  return fault;
}
