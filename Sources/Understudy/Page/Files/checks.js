// Checks as a table: failed on top, passed folded, not judged in grey.

import { h, fold, table, signed, copier } from './dom.js';
import { place } from './api.js';
import { OUTCOMES, counted, plain, short, shown } from './words.js';

const ORDER = ['failed', 'noted', 'not-judged'];

export function checkTable(findings, label, vendor) {
  const first = ORDER.flatMap(outcome => findings.filter(finding => finding.outcome === outcome));
  const passed = findings.filter(finding => finding.outcome === 'passed');
  const rows = (some, label) => table(label, ['Check', 'Outcome', 'Expected', 'Found', 'Source'], some.map(each => row(each, vendor)));
  return findings.length > 0 && h('div.checks',
    rows(first, label),
    passed.length > 0 && fold(`Show ${counted(passed.length, 'passed check')}`,
      () => rows(passed, `${label}, passed`), first.length === 0 && passed.length < 8));
}

function row(finding, vendor) {
  const [sign, word] = OUTCOMES[finding.outcome] ?? ['', finding.outcome];
  const has = name => Object.hasOwn(finding, name);
  return h(`tr.${finding.outcome}`, { 'data-check': finding.check, tabindex: finding.outcome === 'failed' ? -1 : null },
    h('th', { scope: 'row' }, plain(finding.check)),
    h('td.short', signed(sign), ` ${word}`),
    h('td', { 'data-label': 'Expected' }, has('expected') ? value(finding.expected) : '', finding.note && h('p.note', finding.note)),
    h('td', { 'data-label': 'Found' }, has('found') ? value(finding.found) : finding.outcome === 'failed' ? 'nothing' : ''),
    h('td', { 'data-label': 'Source' }, finding.source && source(finding.source, vendor)));
}

/** A value of a cell; a long id in short, which copies it. */
export function value(given) {
  const text = shown(given);
  return short(text) === text ? text : copier(short(text), () => text, { class: 'link', title: text });
}

/** A source with a link: to an RFC's section, or what it stands for. */
export function source(text, vendor) {
  const rfc = /RFC (\d{4})(?: section ([\d.]+\d|\d))?/.exec(text);
  if (rfc) return h('a', { href: `https://www.rfc-editor.org/rfc/rfc${rfc[1]}${rfc[2] ? `#section-${rfc[2]}` : ''}`, rel: 'noreferrer noopener', target: '_blank' }, text);
  return h('a', { href: place.link({ vendor, of: text }, 'sources') }, text);
}
