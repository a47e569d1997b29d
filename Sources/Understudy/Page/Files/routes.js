// Each vendor's API: sources, coverage, failures, and a call of every route.

import { h, put, select, outcome, table, fold, unfit, searchBox } from './dom.js';
import { description, routePanel } from './description.js';
import { source } from './checks.js';
import { sampleForm } from './sample.js';

export const title = 'Routes';

const keyOf = (vendor, route) => `${vendor.id} ${route.route} ${route.method} ${route.path}`;

export function view(app, sandbox, all) {
  const said = outcome();
  const list = h('div');
  const trial = h('div');
  const search = searchBox(app);
  const only = select([['', 'all vendors'], ...all.map(each => [each.id, each.title])], '', value => app.change({ vendor: value || null }), { label: 'Vendor' });
  const node = h('div.page', h('h1', 'Routes'), h('div.filters', search.element, only), said.element, trial, list);
  let met = {};
  let tried = '';

  function draw(params) {
    const words = search.words(params);
    const fits = each => JSON.stringify(Object.values(each)).toLowerCase().includes(words);
    only.value = params.get('vendor') ?? '';
    put(list, all.filter(each => !only.value || each.id === only.value).map(vendor => {
      const [routes, failures] = [vendor.routes.filter(fits), vendor.failures.filter(fits)];
      if (!routes.length && !failures.length) return null;
      return h('section', { label: vendor.title }, h('h2', vendor.title), h('p', met[vendor.id]),
        table(`Routes of ${vendor.title}`, ['Route', 'Call', 'Evidence', 'Source', ''], routes.flatMap(route => {
          const key = keyOf(vendor, route);
          const isOpen = params.get('show') === key;
          return [[
            h('a', { href: app.link({ vendor: vendor.id, route: route.route }, 'journal') }, route.route), h('code.path', `${route.method} ${route.path}`), route.evidence, source(route.source, vendor.id),
            h('span.short', h('a', { href: app.link({ show: isOpen ? null : key }), 'aria-expanded': String(isOpen) }, isOpen ? 'Close' : 'Details'), ' · ', h('a', { href: app.link({ try: key }) }, 'Try it'))],
          ...isOpen ? [h('tr', h('td', { colspan: 5 }, shown(vendor, route)))] : []];
        })),
        failures.length ? fold(`${failures.length} failures`, () => table(`Failures of ${vendor.title}`, ['Failure', 'Status', 'When', 'Evidence', 'Source'], failures.map(each => [
          h('a', { href: app.link({ vendor: vendor.id, failure: each.failure }, 'journal') }, each.failure), each.status, each.about, each.evidence, source(each.source, vendor.id)])), Boolean(words)) : null);
    }));
    if (!list.firstChild) put(list, unfit('No route or failure matches these filters.', () => app.go('routes')));
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
      met = Object.fromEntries((await sandbox.get('coverage')).vendors.map(each => [each.vendor, each.summary]));
      draw(params);
      await attempt(params);
    });
  }

  return { node, update, key: search.key };
}
