// A token as people read it: three parts, header and claims with what they mean, times beside the sandbox's clock.

import { h, button } from './dom.js';
import { decode, relative, absolute, shown, plain } from './words.js';

const MEANINGS = {
  alg: 'algorithm of the signature', typ: 'type', kid: 'id of the key', auth: 'version of the login', cty: 'content type',
  iss: 'issuer', sub: 'subject: whom it is about', aud: 'audience: whom it is for', exp: 'when it expires', nbf: 'when it becomes valid',
  iat: 'when it was issued', jti: 'id of the token', nonce: 'answer to a challenge', scope: 'scope', azp: 'authorized party',
  device_id: 'device it is bound to', rezolve_entity_id: 'customer', partner_entity_id: 'the partner’s id of the user',
};
const TIMES = ['exp', 'nbf', 'iat', 'auth_time', 'updated_at'];

/** Which failed check marks a member: its name stands in the check's. */
function problem(name, findings) {
  const words = { exp: ['expiry', 'lifetime', 'max-lifetime'], nbf: ['not-before'], alg: ['algorithm'], typ: ['type'], crit: ['critical'], kid: ['key', 'kid'],
    iat: ['issued-at', 'lifetime'], aud: ['audience'], iss: ['issuer'], sub: ['subject'], device_id: ['device'] }[name] ?? [];
  return findings.find(finding => finding.outcome === 'failed' && (finding.check.includes(`-${name}-`) || finding.check.endsWith(`-${name}`)
    || finding.check === name || words.includes(finding.check) || finding.check === name.replaceAll('_', '-')));
}

/** A token, decoded; `now` is the sandbox's clock, `findings` mark what a rule failed on. */
export function tokenView(token, now, findings = []) {
  const parts = token.split('.');
  const names = ['header', 'claims', 'signature'];
  const signature = findings.find(finding => finding.outcome === 'failed' && finding.check.startsWith('signature'));
  return h('div.token',
    h('pre.code.parts', { tabindex: 0, 'aria-label': 'Token' }, parts.map((part, index) => [
      index ? '.' : null, h(`span.part-${names[index] ?? 'rest'}`, { title: names[index] ?? 'more than three parts' }, part)])),
    part('Header', decode(parts[0] ?? ''), now, findings),
    part('Claims', decode(parts[1] ?? ''), now, findings),
    signature ? h('p.refused', '✕ Signature: ', `${shown(signature.found ?? 'does not fit')}; expected ${shown(signature.expected)}`) : null);
}

function part(label, members, now, findings) {
  if (members === null || typeof members !== 'object') {
    return h('p', `${label}: cannot be read as a JSON object in base64url.`);
  }
  return h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': label }, h('table', { 'aria-label': label }, h('caption', label),
    h('tbody', Object.entries(members).map(([name, value]) => {
      const failed = problem(name, findings);
      const isTime = TIMES.includes(name) && typeof value === 'number';
      return h(failed ? 'tr.failed' : 'tr',
        h('th', { scope: 'row' }, name),
        h('td', shown(value)),
        h('td', isTime ? h('span', { title: absolute(value) }, `${relative(value, now)} · ${absolute(value)}`) : MEANINGS[name] ?? '',
          failed ? h('div', h('span.sign', { 'aria-hidden': 'true' }, '✕ '), button(`failed: ${plain(failed.check)}`, event => lead(event.target, failed.check), { class: 'link', title: 'To the rule' })) : null));
    }))));
}

/** Leads from a claim to the rule that failed on it. */
function lead(from, check) {
  const row = [...from.closest('.entry, .page').querySelectorAll('tr.failed')].find(each => each.dataset.check === check);
  row?.scrollIntoView({ block: 'center' });
  row?.focus();
}
