// Each vendor's API: where it is known from, what it reads and answers, how it can fail, and a sample call of every route.

import { h, put, select, outcome, table, fold, unfit } from './dom.js';
import { vendors } from './api.js';
import { description, routePanel } from './description.js';
import { source } from './checks.js';
import { sampleForm } from './sample.js';

export const title = 'Routes';

const keyOf = (vendor, route) => `${vendor.id} ${route.route} ${route.method} ${route.path}`;

export function view(app, sandbox) {
  const said = outcome();
  const list = h('div');
  const trial = h('div');
  const search = h('input', { type: 'search', placeholder: 'Filter  /', 'aria-label': 'Free text', oninput: () => app.change({ text: search.value || null }, true) });
  const only = h('span');
  const node = h('div.page', h('h1', 'Routes'), h('div.filters', search, only), said.element, trial, list);
  let all = [];
  let met = {};
  let tried = '';

  function draw(params) {
    const words = (params.get('text') ?? '').toLowerCase();
    const fits = each => JSON.stringify(Object.values(each)).toLowerCase().includes(words);
    if (document.activeElement !== search) search.value = params.get('text') ?? '';
    put(only, select([['', 'all vendors'], ...all.map(each => [each.id, each.title])], params.get('vendor') ?? '', value => app.change({ vendor: value || null }), { 'aria-label': 'Vendor' }));
    let isEmpty = true;
    put(list, all.filter(each => !params.get('vendor') || each.id === params.get('vendor')).map(vendor => {
      const [routes, failures] = [vendor.routes.filter(fits), vendor.failures.filter(fits)];
      if (!routes.length && !failures.length) return null;
      isEmpty = false;
      return h('section', { 'aria-label': vendor.title }, h('h2', vendor.title), h('p', met[vendor.id]),
        routes.length ? table(`Routes of ${vendor.title}`, ['Route', 'Call', 'Evidence', 'Source', ''], routes.flatMap(route => {
          const key = keyOf(vendor, route);
          const isOpen = params.get('show') === key;
          return [[
            h('a', { href: app.link({ vendor: vendor.id, route: route.route, text: null }, 'journal') }, route.route), h('code.path', `${route.method} ${route.path}`), route.evidence, source(route.source),
            h('span.short', h('a', { href: app.link({ show: isOpen ? null : key }), 'aria-expanded': String(isOpen) }, isOpen ? 'Close' : 'Details'), ' · ', h('a', { href: app.link({ try: key }) }, 'Try it'))],
          ...isOpen ? [h('tr', h('td', { colspan: 5 }, shown(vendor, route)))] : []];
        })) : null,
        failures.length ? fold(`${failures.length} failures`, () => table(`Failures of ${vendor.title}`, ['Failure', 'Status', 'When', 'Evidence', 'Source'], failures.map(each => [
          h('a', { href: app.link({ vendor: vendor.id, failure: each.failure, text: null }, 'journal') }, each.failure), each.status, each.about, each.evidence, source(each.source)])), Boolean(words)) : null);
    }));
    if (isEmpty && all.length) put(list, unfit('No route or failure matches these filters.', () => { search.value = ''; app.go('routes'); }));
  }

  /** What a route reads and answers, once it has been read. */
  function shown(vendor, route) {
    const place = h('div');
    said.run(async () => put(place, routePanel(await description(sandbox, vendor.id), vendor, route)));
    return place;
  }

  async function attempt(params) {
    const key = params.get('try') ?? '';
    if (key === tried) return;
    tried = key;
    put(trial);
    const vendor = all.find(each => key.startsWith(`${each.id} `));
    const route = vendor?.routes.find(each => keyOf(vendor, each) === key);
    if (route) await said.run(async () => { put(trial, await sampleForm(vendor, route, app, sandbox)); trial.scrollIntoView({ block: 'nearest' }); });
  }

  async function update(params) {
    await said.run(async () => {
      all = await vendors();
      // What the calls of the sandbox have met so far.
      met = Object.fromEntries((await sandbox.get('coverage')).vendors.map(each => [each.vendor, each.summary]));
      draw(params);
      await attempt(params);
    });
  }

  function key(event) {
    if (event.key !== '/') return false;
    search.focus();
    return true;
  }

  return { node, update, key };
}
