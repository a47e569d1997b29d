// A token as people read it: its parts, what they mean, times beside the sandbox's clock.

import { h, button, table, signed } from './dom.js';
import { value } from './checks.js';
import { decode, relative, absolute, plain } from './words.js';

const MEANINGS = {
  alg: 'algorithm of the signature', typ: 'type', kid: 'id of the key',
  iss: 'issuer', sub: 'subject: whom it is about', aud: 'audience: whom it is for', exp: 'when it expires', nbf: 'when it becomes valid',
  iat: 'when it was issued', jti: 'id of the token', nonce: 'answer to a challenge', azp: 'authorized party',
};
const TIMES = ['exp', 'nbf', 'iat', 'auth_time', 'updated_at'];

const CHECKS = {
  expiry: 'exp', lifetime: 'exp', 'max-lifetime': 'exp', 'not-before': 'nbf', 'issued-at': 'iat', algorithm: 'alg', type: 'typ', critical: 'crit',
  key: 'kid', audience: 'aud', issuer: 'iss', subject: 'sub', device: 'device_id',
};

/** The failed check that marks a member: it is of it, or has its name. */
const problem = (name, findings) => findings.find(({ outcome, check }) => outcome === 'failed'
  && (CHECKS[check] === name || `-${check}-`.includes(`-${name}-`) || check === name.replaceAll('_', '-')));

/** A token, decoded; `now` is the sandbox's clock, `findings` mark what a rule failed on. */
export function tokenView(token, now, findings = []) {
  const parts = token.split('.');
  const names = ['header', 'claims', 'signature'];
  return h('div.token',
    h('pre.code.parts', { tabindex: 0, label: 'Token' }, parts.map((part, index) => [
      index ? '.' : null, h(`span.part-${names[index] ?? 'rest'}`, { title: names[index] ?? 'more than three parts' }, part)])),
    part('Header', decode(parts[0] ?? ''), now, findings),
    part('Claims', decode(parts[1] ?? ''), now, findings));
}

function part(label, members, now, findings) {
  if (members === null || typeof members !== 'object') return h('p', `${label}: cannot be read as a JSON object in base64url.`);
  return h('div', h('h3', label), table(label, null, Object.entries(members).map(([name, member]) => {
    const failed = problem(name, findings);
    const isTime = TIMES.includes(name) && typeof member === 'number';
    return h(failed ? 'tr.failed' : 'tr',
      h('th', { scope: 'row' }, name),
      h('td', value(member)),
      h('td', isTime ? h('span', { title: absolute(member) }, `${relative(member, now)} · ${absolute(member)}`) : MEANINGS[name] ?? '',
        failed && h('div', signed('✕ '), button(`failed: ${plain(failed.check)}`, event => lead(event.target, failed.check), { class: 'link', title: 'To the rule' }))));
  })));
}

function lead(from, check) {
  const row = [...from.closest('.entry, .page').querySelectorAll('tr.failed')].find(each => each.dataset.check === check);
  row?.scrollIntoView({ block: 'center' });
  row?.focus();
}
