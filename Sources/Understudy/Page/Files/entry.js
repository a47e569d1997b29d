// One entry: the reason as a sentence, what the app got beside what it did not see, and the proof.

import { h, put, button, copier, fold, code, table } from './dom.js';
import { vendors } from './api.js';
import { checkTable } from './checks.js';
import { tokenView } from './token.js';
import { socketView } from './socket.js';
import { asCurl, asHurl, asSwift } from './copies.js';
import { kind, sentence, relative, absolute, unix, tokens, shown, plain, intervened } from './words.js';

let latest = 0;

/** Shows an entry in a place, unless another one was asked for meanwhile. */
export async function openEntry(place, sandbox, id, app, abouts, close) {
  const turn = ++latest;
  try {
    const [entry, all] = await Promise.all([sandbox.get(`journal/${id}`), vendors()]);
    if (turn !== latest) return;
    for (const vendor of all) for (const failure of vendor.failures) abouts.set(`${vendor.id} ${failure.failure}`, failure.about);
    put(place, draw(entry, sandbox, app, all, abouts, close, () => openEntry(place, sandbox, id, app, abouts, close)));
    if (document.body.clientWidth <= 900) place.scrollIntoView({ block: 'start' });
  } catch (problem) {
    if (turn === latest) put(place, h('p.outcome.bad', { role: 'alert' }, '✕ ', problem.message), button('Close', close));
  }
}

function draw(entry, sandbox, app, all, abouts, close, again) {
  const brief = { ...entry, method: entry.request.method, target: entry.request.target };
  const { name, sign, word } = kind(brief);
  const about = abouts.get(`${entry.vendor} ${entry.failure}`);
  const why = sentence(brief, about);
  const vendor = all.find(each => each.id === entry.vendor);
  return h(`article.entry.${name}`, { 'aria-label': `Entry ${entry.id}` },
    h('header',
      h('h2', `${entry.status} `, h('span.sign', { title: word, role: 'img', 'aria-label': word }, sign), ` ${vendor?.title ?? ''} `, entry.route ?? `${entry.request.method} ${entry.request.target}`),
      h('p.when', h('time', { datetime: entry.at, title: absolute(entry.at) }, `${relative(unix(entry.at), app.now())} · ${absolute(entry.at)}`), ` · entry ${entry.id}${entry.replica ? ` · replica ${entry.replica}` : ''}`)),
    tools(entry, sandbox, app, close),
    why ? h('p.why', h('strong', 'Why: '), why) : h('p.why', 'Answered; no rule refused it.'),
    contrast(entry, vendor, about),
    entry.nearest_routes?.length ? h('div', h('h3', 'Nearest routes'), h('ul', entry.nearest_routes.map(route => h('li', h('code', route))))) : null,
    entry.findings.length ? [h('h3', 'Checks'), checkTable(entry.findings)] : null,
    entry.intervention ? interventions(entry, app) : null,
    folds(entry, sandbox, app, again));
}

/** The fault or scenario in words with a link, and what the vendor itself did on request. */
function interventions(entry, app) {
  const parts = [entry.intervention].flat();
  const text = parts.find(part => typeof part === 'string');
  const own = parts.filter(part => typeof part !== 'string');
  const place = text?.startsWith('scenario') ? 'scenarios' : 'faults';
  return h('div.intervened', h('h3', '! Intervention'),
    text ? [h('p', text), h('a', { href: app.link({}, place) }, text.startsWith('scenario') ? 'See the scenario' : 'See the faults')] : null,
    own.length ? code(own) : null);
}

function tools(entry, sandbox, app, close) {
  const others = h('input', { type: 'number', min: 1, 'aria-label': 'Entry to compare with', placeholder: 'entry', value: entry.id > 1 ? entry.id - 1 : '' });
  const compare = () => others.value && app.change({ with: others.value });
  return h('div.tools', { role: 'toolbar', 'aria-label': 'Entry' },
    copier('Copy as curl', () => asCurl(sandbox, entry), { 'data-key': 'c' }),
    copier('Copy as Hurl case', () => asHurl(sandbox, entry)),
    copier('Copy as Swift expectation', () => asSwift(entry)),
    h('form.inline', { onsubmit: event => { event.preventDefault(); compare(); } }, others, h('button', { type: 'submit' }, 'Compare')),
    copier('Copy link', () => location.origin + location.pathname + app.link({ entry: entry.id })),
    button('Close', close));
}

/** What the wire said beside what it kept to itself. */
function contrast(entry, vendor, about) {
  const failed = entry.findings.filter(finding => finding.outcome === 'failed');
  const failure = vendor?.failures.find(each => each.failure === entry.failure);
  const hidden = entry.failure
    ? h('div', h('p', h('strong', entry.failure), about ? `: ${about}` : ''),
      failed.slice(0, 3).map(each => h('p', h('span.sign', { 'aria-hidden': 'true' }, '✕ '), `${plain(each.check)}: found ${shown(each.found)}, expected ${shown(each.expected)}`)),
      failure ? h('p.note', `${failure.evidence}: ${failure.source}`) : null)
    : h('p', intervened(entry) ?? (entry.reason || 'Nothing is hidden.'));
  return h('div.contrast',
    h('section', { 'aria-label': 'The app sees' }, h('h3', 'The app sees'), h('p.wire', `${entry.status}`), entry.response.body === null ? h('p', 'No content.') : code(entry.response.body),
      failure?.lookalikes.length ? fold(`One of ${failure.lookalikes.length + 1} reasons for the same answer`, () => alike(vendor, failure)) : null),
    h('section', { 'aria-label': 'It does not see' }, h('h3', 'It does not see'), hidden));
}

/** The failures that look the same on the wire, this one among them. */
function alike(vendor, failure) {
  const names = [failure.failure, ...failure.lookalikes];
  return h('ul', vendor.failures.filter(each => names.includes(each.failure)).map(each => h('li',
    each === failure ? h('strong', each.failure) : each.failure, `: ${each.about} `, h('small', `(${each.evidence})`))));
}

function folds(entry, sandbox, app, again) {
  const found = tokens(entry.request);
  const fetches = entry.findings.filter(finding => /jwks|key-fetch|fetch|published-key/.test(finding.check) || /fetch/i.test(finding.note ?? ''));
  return h('div.folds',
    found.map((token, index) => fold(found.length > 1 ? `Token ${index + 1}` : 'Token', () => h('div', tokenView(token, app.now(), entry.findings),
      h('p', h('a', { href: app.link({}, 'tokens') }, 'Mint one like it'), ' — the journal masks signatures, so this one cannot be used again.')), true)),
    fetches.length ? fold('Key fetches', () => checkTable(fetches, 'Key fetches'), true) : null,
    entry.socket ? fold(`Socket: ${entry.socket.received} in, ${entry.socket.sent} out`, () => socketView(entry.socket, sandbox, app, again), true) : null,
    entry.parts ? fold(`Parts: ${entry.parts.refused} refused`, () => code(entry.parts)) : null,
    fold('Request', () => message(`${entry.request.method} ${entry.request.target}`, entry.request)),
    fold('Answer', () => message(String(entry.response.status), entry.response)));
}

function message(line, { headers, body }) {
  return h('div', h('p', h('code', line)), table('Header fields', ['Field', 'Value'], headers.map(([name, value]) => [name, h('code', value)])),
    body === null ? h('p', 'No content.') : code(body));
}
