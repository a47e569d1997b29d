// A call at a route, sent from this page with a token minted now; its entry shows the result.

import { h, put, button, field, select, outcome, table, fold, code } from './dom.js';
import { place } from './api.js';

/** The value of a parameter that the vendor's records hold: a member of its name, or the id of such a record. */
function known(name, value) {
  if (value === null || typeof value !== 'object') return undefined;
  for (const [key, member] of Object.entries(value)) {
    if ((key === name || key === `${name}_id`) && (typeof member === 'string' || typeof member === 'number')) return member;
    if ((key === `${name}s` || key === `${name}es` || key === name) && Array.isArray(member) && member[0]?.id !== undefined) return member[0].id;
  }
  for (const member of Object.values(value)) {
    const found = known(name, member);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A form that sends a call at a route, filled with what is known of the sandbox. */
export async function sampleForm(vendor, route, app, sandbox) {
  const [{ kinds }, { sample }, state] = await Promise.all([sandbox.get('tokens'), sandbox.get(`vendors/${vendor.id}/sample`), sandbox.get(`state/${vendor.id}`)]);
  const own = kinds.filter(each => each.vendor === vendor.id);
  const isSample = sample && sample.method === route.method && sample.path === route.path;
  const names = [...route.path.matchAll(/\{([^}]+)\}/g)].map(match => match[1]);
  const samples = Object.fromEntries(vendor.samples.map(each => [each.label, each.value]));
  const inputs = names.map(name => [name, h('input', { name, value: guess(name.replace('...', ''), state, samples) })]);
  const said = outcome();
  const token = select([['', 'none'], ...own.map(each => [each.kind, `${vendor.id} ${each.kind}`])], own[own.length > 1 && !isSample ? 1 : 0]?.kind ?? '', null, { 'aria-label': 'Token' });
  const fields = (sample?.headers ?? []).filter(([name]) => name.toLowerCase() !== 'authorization' && (isSample || name.toLowerCase() !== 'content-type'));
  const others = vendor.samples.filter(each => /device/.test(each.label)).map(each => [`x-${vendor.id}-device-id`, each.value]);
  const area = h('textarea', { rows: 3, 'aria-label': 'Header fields', value: [...fields, ...others].map(([name, value]) => `${name}: ${value}`).join('\n') });
  const body = h('textarea', { rows: 3, 'aria-label': 'Content', value: isSample ? sample.body : '' });
  const scheme = /^(\w+) /.exec((sample?.headers ?? []).find(([name]) => name.toLowerCase() === 'authorization')?.[1] ?? '')?.[1] ?? 'Bearer';

  const answer = h('div', { 'aria-label': 'Answer', role: 'region' });

  async function send(event) {
    event.preventDefault();
    put(answer);
    // A page may only call its own origin.
    if (place.port) return said.say(`The vendors are at port ${place.port}, where this page may not call. Copy the call as curl from an entry.`);
    await said.run(async () => {
      const all = Object.fromEntries(area.value.split('\n').filter(line => line.includes(':')).map(line => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]));
      if (token.value) all.Authorization = `Bearer ${(await sandbox.call('POST', `tokens/${vendor.id}/${token.value}`)).token}`;
      else if (sample && scheme !== 'Bearer' && isSample) all.Authorization = sample.headers.find(([name]) => name.toLowerCase() === 'authorization')[1];
      const target = inputs.reduce((path, [name, input]) => path.replace(`{${name}}`, encodeURIComponent(input.value)), route.path);
      const content = body.value.trim();
      if (content && !Object.keys(all).some(name => name.toLowerCase() === 'content-type')) all['Content-Type'] = 'application/json';
      const hasBody = !['GET', 'HEAD'].includes(route.method) && content;
      const before = (await sandbox.get('journal?format=brief&last=1')).newest;
      const response = await fetch(target, { method: route.method, headers: sandbox.headers(all), body: hasBody ? content : undefined, credentials: 'omit', cache: 'no-store' }).catch(() => null);
      const { entries } = await sandbox.get(`journal?format=brief&after=${before}&wait=2s`);
      const entry = entries.find(each => each.vendor === vendor.id) ?? entries[0];
      put(said.element, `Answered ${response?.status ?? 'with a broken connection'}. `, entry ? h('a', { href: app.link({ entry: entry.id, try: null, text: null, vendor: null }, 'journal') }, 'Open its entry') : null);
      const text = await response?.text();
      put(answer, text ? code(pretty(text)) : null);
    });
  }

  return h('form.panel', { 'aria-label': `Try ${route.route}`, onsubmit: send }, h('h2', `Try ${route.route}`), h('p', h('code', `${route.method} ${sandbox.address}${route.path}`)),
    h('div.fields', inputs.map(([name, input]) => field(name, input)), field('Token, minted now', token), field('Header fields', area), ['GET', 'HEAD'].includes(route.method) ? null : field('Content', body)),
    h('div.tools', h('button', { type: 'submit' }, 'Send'), button('Close', () => app.change({ try: null }))), said.element, answer,
    fold('Sample values', () => table('Sample values', ['What', 'Value'], vendor.samples.map(each => [each.label, h('code', each.value)]))));
}

function pretty(text) {
  try { return JSON.parse(text); } catch { return text; }
}

function guess(name, state, samples) {
  const found = known(name, state);
  if (found !== undefined) return found;
  const label = Object.keys(samples).find(each => each.toLowerCase().startsWith(name.toLowerCase()) || each.toLowerCase().includes(name.toLowerCase()));
  return label ? samples[label] : '';
}
