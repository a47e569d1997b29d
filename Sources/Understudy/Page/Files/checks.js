// Checks as a table: failed on top, passed folded, not judged in grey.

import { h, fold } from './dom.js';
import { OUTCOMES, counted, plain, shown, sourceLink } from './words.js';

const ORDER = ['failed', 'noted', 'not-judged'];

/** The checks of an entry or a verdict. */
export function checkTable(findings, label = 'Checks') {
  const first = ORDER.flatMap(outcome => findings.filter(finding => finding.outcome === outcome));
  const passed = findings.filter(finding => finding.outcome === 'passed');
  return h('div.checks',
    first.length ? rows(first, label) : null,
    passed.length ? fold(`Show ${counted(passed.length, 'passed check')}`,
      () => rows(passed, `${label}, passed`), first.length === 0 && passed.length < 8) : null);
}

function rows(findings, label) {
  return h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': label }, h('table', { 'aria-label': label },
    h('thead', h('tr', ['Check', 'Outcome', 'Expected', 'Found', 'Source'].map(name => h('th', { scope: 'col' }, name)))),
    h('tbody', findings.map(row))));
}

function row(finding) {
  const [sign, word] = OUTCOMES[finding.outcome] ?? ['', finding.outcome];
  const has = name => Object.hasOwn(finding, name);
  return h(`tr.${finding.outcome}`, { 'data-check': finding.check, tabindex: finding.outcome === 'failed' ? -1 : null },
    h('th', { scope: 'row' }, plain(finding.check)),
    h('td', h('span.sign', { 'aria-hidden': 'true' }, sign), ` ${word}`),
    h('td', { 'data-label': 'Expected' }, has('expected') ? shown(finding.expected) : '', finding.note ? h('p.note', finding.note) : null),
    h('td', { 'data-label': 'Found' }, has('found') ? shown(finding.found) : finding.outcome === 'failed' ? 'nothing' : ''),
    h('td', { 'data-label': 'Source' }, finding.source ? source(finding.source) : null));
}

/** A source with the link that leads to it. */
export function source(text) {
  const { href, isOutside } = sourceLink(text);
  return h('a', { href, ...(isOutside ? { rel: 'noreferrer noopener', target: '_blank' } : {}) }, text);
}
