// One entry: the reason as a sentence with its proof, what the app got beside what happened, and the rest.

import { h, button, copier, fold, code, table } from './dom.js';
import { vendors } from './api.js';
import { checkTable, source } from './checks.js';
import { tokenView } from './token.js';
import { socketView } from './socket.js';
import { asCurl, asSwift } from './copies.js';
import { kind, sentence, failedCheck, fix, differing, relative, absolute, unix, tokens, shown, plain } from './words.js';

export async function openEntry(id, app, sandbox, close, again) {
  const [entry, all] = await Promise.all([sandbox.get(`journal/${id}`), vendors()]);
  const brief = { ...entry, method: entry.request.method, target: entry.request.target };
  const { name, sign, word } = kind(brief);
  const decided = name === 'refused' && failedCheck(entry.reason)?.check;
  const cause = entry.findings.find(each => each.outcome === 'failed' && each.check === decided);
  const why = sentence(brief, cause);
  // The fault or scenario in words, and what the vendor itself did on request.
  const parts = [entry.intervention ?? []].flat();
  const text = parts.find(part => typeof part === 'string');
  const own = parts.filter(part => part !== text);
  const by = text && (text.startsWith('scenario') ? 'scenarios' : 'faults');
  const others = entry.findings.filter(each => each !== cause);
  const vendor = all.find(each => each.id === entry.vendor);
  return h(`article.entry.${name}`, { label: `Entry ${entry.id}` },
    h('header',
      h('h2', `${entry.status} `, h('span.sign', { title: word, role: 'img', label: word }, sign), ` ${vendor?.title ?? ''} `, entry.route ?? `${entry.request.method} ${entry.request.target}`),
      h('p.when', h('time', { datetime: entry.at, title: absolute(entry.at) }, `${relative(unix(entry.at), app.now())} · ${absolute(entry.at)}`), ` · entry ${entry.id}${entry.replica ? ` · replica ${entry.replica}` : ''}`)),
    tools(entry, sandbox, app, close),
    why ? h('p.why', h('strong', 'Why: '), why, by && [' ', h('a', { href: app.link({}, by) }, `See the ${by}`)]) : h('p.why', 'Answered; no rule refused it.'),
    cause && proof(cause, entry.vendor),
    contrast(entry, vendor),
    entry.nearest_routes?.length ? h('div', h('h3', 'Nearest routes'), h('ul', entry.nearest_routes.map(route => h('li', h('code', route))))) : null,
    others.length ? [h('h3', cause ? 'Other checks' : 'Checks'), checkTable(others, 'Checks', entry.vendor)] : null,
    own.length > 0 && h('div.panel.intervened', h('h3', '! Intervention'), code(own)),
    folds(entry, sandbox, app, again));
}

/** The check that decided: the two values under each other, and what to do. */
function proof(finding, vendor) {
  const values = [shown(finding.found), shown(finding.expected)];
  const marked = differing(...values) ?? values.map(text => [text]);
  const value = ([same, other, rest]) => h('td', h('code', same, other && h('mark', other), rest));
  return h('div.proof',
    table('Cause', null, [
      h('tr.failed', { 'data-check': finding.check, tabindex: -1 }, h('th', { scope: 'row', rowspan: 2 }, plain(finding.check)), h('td', 'found'), value(marked[0])),
      h('tr.failed', h('td', 'expected'), value(marked[1]))]),
    h('p', h('strong', 'Fix: '), fix(finding), ' ', finding.source && h('small', source(finding.source, vendor))));
}

function tools(entry, sandbox, app, close) {
  const others = h('input', { type: 'number', min: 1, label: 'Entry to compare with', placeholder: 'entry', value: entry.id > 1 ? entry.id - 1 : '' });
  const compare = () => others.value && app.change({ with: others.value });
  return h('div.tools',
    copier('Copy as curl', () => asCurl(sandbox, entry), { 'data-key': 'c' }),
    copier('Copy as Hurl case', () => sandbox.get(`journal/${entry.id}?format=hurl`)),
    copier('Copy as Swift expectation', () => asSwift(entry)),
    h('form.inline', { onsubmit: event => { event.preventDefault(); compare(); } }, button('Compare', compare), h('span', 'with entry'), others),
    copier('Copy link', () => location.origin + location.pathname + app.link({ entry: entry.id })),
    button('Close', close));
}

/** What the wire said beside what it kept to itself. */
function contrast(entry, vendor) {
  const failure = vendor?.failures.find(each => each.failure === entry.failure);
  return h(failure ? 'div.contrast' : 'div',
    h('section', { label: 'The app sees' }, h('h3', `The app sees ${entry.status}`), entry.response.body === null ? h('p', 'No content.') : code(entry.response.body),
      failure?.lookalikes.length ? fold(`One of ${failure.lookalikes.length + 1} reasons for the same answer`, () => alike(vendor, failure)) : null),
    failure ? h('section', { label: 'What really happened' }, h('h3', 'What really happened'), h('p', h('strong', failure.failure), `: ${failure.about}`),
      h('p.note', `${failure.evidence}: `, source(failure.source, vendor.id))) : null);
}

/** The failures that look the same on the wire, this one among them. */
function alike(vendor, failure) {
  return h('ul', vendor.failures.filter(each => each === failure || failure.lookalikes.includes(each.failure)).map(each => h('li',
    h(each === failure ? 'strong' : 'span', each.failure), `: ${each.about} `, h('small', `(${each.evidence})`))));
}

function folds(entry, sandbox, app, again) {
  const found = tokens(entry.request);
  return h('div.folds',
    found.map((token, index) => fold(found.length > 1 ? `Token ${index + 1}` : 'Token', () => h('div', tokenView(token, app.now(), entry.findings),
      h('p.note', 'The journal masks signatures, so this one cannot be used again. ', h('a', { href: app.link({}, 'tokens') }, 'Mint one like it'))), true)),
    entry.socket && fold(`Socket: ${entry.socket.received} in, ${entry.socket.sent} out`, () => socketView(entry.socket, sandbox, app, again), true),
    entry.parts && fold(`Parts: ${entry.parts.refused} refused`, () => code(entry.parts)),
    fold('Request', () => message(`${entry.request.method} ${entry.request.target}`, entry.request)),
    fold('Answer', () => message(String(entry.response.status), entry.response)));
}

function message(line, { headers, body }) {
  return h('div', h('p', h('code', line)), table('Header fields', ['Field', 'Value'], headers.map(([name, value]) => [name, h('code', value)])),
    body === null ? h('p', 'No content.') : code(body));
}
