// Why a real server refused a call, by the vendor's rules.

import { h, put, button, field, fold, outcome, signed } from './dom.js';
import { titles } from './api.js';
import { checkTable, source } from './checks.js';

export const title = 'Explain';

const VERDICTS = { broken: ['✕', 'the call breaks this rule'], noted: ['!', 'tolerated here, with a remark'], open: ['–', 'possible, not judged'], possible: ['–', 'possible, no rule was judged'] };

export function view(app, sandbox) {
  const area = h('textarea', { rows: 8, spellcheck: 'false', autocomplete: 'off', placeholder: 'curl https://…', label: 'Call', ondragover: event => event.preventDefault(), ondrop: event => { event.preventDefault(); read(event.dataTransfer.files[0]); } });
  const file = h('input', { type: 'file', accept: '.har,.txt', onchange: () => read(file.files[0]) });
  const status = h('input', { inputmode: 'numeric' });
  const body = h('textarea', { rows: 3, spellcheck: 'false' });
  const said = outcome();
  const results = h('div.verdicts');

  async function read(chosen) {
    if (!chosen) return;
    area.value = lean(await chosen.text());
    explain();
  }

  async function explain() {
    put(results);
    if (!area.value.trim()) return said.say('Paste a call first, or choose a file.');
    await said.run(async () => {
      const order = { recording: area.value };
      if (status.value) order.answer = { status: Number(status.value), body: body.value || undefined };
      const { calls } = await sandbox.call('POST', 'explain', order);
      put(results, calls.map(draw));
    });
  }

  return { update() {}, node: h('div.page', h('h1', 'Why did the real server refuse it?'),
    h('section.panel', { label: 'Explain' }, h('h2', 'Paste a call, or drop a HAR'), area, field('or a file', file),
      fold('What was answered, if the call does not say', () => [field('status', status), field('content', body)]),
      h('div.tools', button('Explain it', explain)), said.element,
      h('p.note', 'Nothing leaves this machine: the call is judged by the rules here, and is not kept.')),
    results) };
}

/** Only the refused calls of a HAR, without pictures and timings. */
function lean(text) {
  let har;
  try { har = JSON.parse(text); } catch { return text; }
  const entries = har?.log?.entries;
  if (!Array.isArray(entries)) return text;
  const isRefused = ({ response: { status, headers = [] } = {} }) => status >= 400 || headers.some?.(({ value }) => /[?&#]error=/.test(value));
  const kept = entries.some(isRefused) ? entries.filter(isRefused) : entries;
  const lean = kept.map(({ startedDateTime, request, response: { status, headers, content } = {} }) => ({ startedDateTime, request, response: { status, headers, content } }));
  return JSON.stringify({ log: { entries: lean } });
}

function draw(call) {
  const causes = call.causes.filter(cause => cause.verdict !== 'held');
  const shown = (each, index) => cause(each, index, call.vendor);
  const checks = (name, text) => call[name].length > 0 && fold(`${text} (${call[name].length})`, () => checkTable(call[name], text, call.vendor), name === 'broken');
  return h('section.panel', { label: call.call }, h('h2.parts', call.call),
    h('p.note', `${titles.get(call.vendor)} ${call.route ?? 'has no route there'}, at ${call.at}; ${call.answered ? `the real server answered ${call.answered}` : 'no answer is known'}. ${call.note ?? ''}`),
    causes.slice(0, 3).map(shown), causes.length > 3 ? fold(`${causes.length - 3} less likely`, () => causes.slice(3).map(shown)) : null,
    checks('broken', 'Also wrong in the call'), checks('open', 'Not judged'));
}

function cause({ failure, verdict, about, reason, findings, source: from }, index, vendor) {
  const [sign, words] = VERDICTS[verdict];
  return h('div', h('h3', signed(sign), ` ${index + 1}. ${failure}: ${words}`), h('p.why', reason ?? about), reason && h('p.note', about, ' ', source(from, vendor)),
    checkTable(findings, failure, vendor));
}
