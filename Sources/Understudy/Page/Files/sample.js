// A call at a route, sent from this page with a token minted now; its entry shows the result.

import { h, put, button, field, select, outcome, code, submit } from './dom.js';
import { place } from './api.js';

/** What the vendor's records hold for a parameter: a member of its name, or the id of such a record. */
function known(name, value) {
  if (value === null || typeof value !== 'object') return undefined;
  for (const [key, member] of Object.entries(value)) {
    if ([name, `${name}_id`].includes(key) && ['string', 'number'].includes(typeof member)) return member;
    if ([name, `${name}s`, `${name}es`].includes(key) && Array.isArray(member) && member[0]?.id !== undefined) return member[0].id;
  }
  return Object.values(value).map(member => known(name, member)).find(found => found !== undefined);
}

/** A form that sends a call at a route. */
export async function sampleForm(vendor, route, app, sandbox) {
  const [{ kinds }, { sample }, state] = await Promise.all([sandbox.get('tokens'), sandbox.get(`vendors/${vendor.id}/sample`), sandbox.get(`state/${vendor.id}`)]);
  const own = kinds.filter(each => each.vendor === vendor.id);
  const isSample = sample?.method === route.method && sample.path === route.path;
  const hasContent = !['GET', 'HEAD'].includes(route.method);
  const guess = name => known(name, state) ?? vendor.samples.find(each => each.label.toLowerCase().includes(name.toLowerCase()))?.value ?? '';
  const inputs = [...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => [name, h('input', { name, value: guess(name.replace('...', '')) })]);
  const said = outcome();
  const token = select([['', 'none'], ...own.map(each => [each.kind, `${vendor.title} ${each.kind}`])], own[own.length > 1 && !isSample ? 1 : 0]?.kind ?? '', null, { label: 'Token' });
  const given = new Headers(sample?.headers);
  const credentials = given.get('authorization');
  const fields = [...given].filter(([name]) => name !== 'authorization' && (isSample || name !== 'content-type'));
  const others = vendor.samples.filter(each => /device/.test(each.label)).map(each => [`x-${vendor.id}-device-id`, each.value]);
  const area = h('textarea', { rows: 3, label: 'Header fields', value: [...fields, ...others].map(([name, value]) => `${name}: ${value}`).join('\n') });
  const body = h('textarea', { rows: 3, label: 'Content', value: isSample ? sample.body : '' });
  const answer = h('div', { label: 'Answer', role: 'region' });

  async function send(event) {
    event.preventDefault();
    put(answer);
    // A page may only call its own origin.
    if (place.port) return said.say(`The vendors are at port ${place.port}, where this page may not call. Copy the call as curl from an entry.`);
    await said.run(async () => {
      const headers = new Headers(sandbox.headers());
      for (const [, name, value] of area.value.matchAll(/^(.+?):(.*)$/gm)) headers.set(name.trim(), value.trim());
      if (token.value) headers.set('Authorization', `Bearer ${(await sandbox.call('POST', `tokens/${vendor.id}/${token.value}`)).token}`);
      else if (isSample && credentials && !credentials.startsWith('Bearer ')) headers.set('Authorization', credentials);
      const target = inputs.reduce((path, [name, input]) => path.replace(`{${name}}`, encodeURIComponent(input.value)), route.path);
      const content = hasContent && body.value.trim() || undefined;
      if (content && !headers.has('content-type')) headers.set('Content-Type', 'application/json');
      const before = (await sandbox.get('journal?format=brief&last=1')).newest;
      const response = await fetch(target, { method: route.method, headers, body: content, credentials: 'omit', cache: 'no-store' }).catch(() => null);
      const { entries } = await sandbox.get(`journal?format=brief&after=${before}&wait=2s`);
      const entry = entries.find(each => each.vendor === vendor.id) ?? entries[0];
      put(said.element, `Answered ${response?.status ?? 'with a broken connection'}. `, entry && h('a', { href: app.link({ entry: entry.id }, 'journal') }, 'Open its entry'));
      const text = await response?.text();
      put(answer, text ? code(pretty(text)) : null);
    });
  }

  return h('form.panel', { label: `Try ${route.route}`, onsubmit: send }, h('h2', `Try ${route.route}`), h('p', h('code', `${route.method} ${sandbox.address}${route.path}`)),
    h('div.fields', inputs.map(([name, input]) => field(name, input)), field('Token, minted now', token), field('Header fields', area), hasContent && field('Content', body)),
    h('div.tools', submit('Send'), button('Close', () => app.change({ try: null }))), said.element, answer);
}

function pretty(text) {
  try { return JSON.parse(text); } catch { return text; }
}
