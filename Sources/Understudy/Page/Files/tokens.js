// The token debugger: paste or mint, and every vendor's verdict rule by rule. Nothing that is pasted is kept anywhere.

import { h, put, button, copier, field, select, fold, outcome, code } from './dom.js';
import { vendors } from './api.js';
import { checkTable } from './checks.js';
import { tokenView } from './token.js';

export const title = 'Tokens';

/** `before` is the view of another sandbox, whose token is judged in this one. */
export function view(app, sandbox, before) {
  const area = h('textarea', { rows: 5, spellcheck: 'false', autocomplete: 'off', placeholder: 'eyJ…', 'aria-label': 'Token', oninput: later, value: before?.token() });
  const facts = h('div.fields');
  const judged = outcome();
  const decoded = h('div');
  const verdicts = h('div.verdicts');
  const mint = h('section.panel', { 'aria-label': 'Mint' });
  const node = h('div.page', h('h1', 'Tokens'),
    h('div.columns',
      h('section.panel', { 'aria-label': 'Judge' }, h('h2', 'Judge a token'), area, fold('Facts of the request', () => facts),
        h('div.tools', button('Judge it', judge), button('Clear', clear)), judged.element,
        h('p.note', 'It stays in this page: nothing is stored, here or on the server.'), decoded),
      mint),
    verdicts);
  let timer = null;
  let turn = 0;

  /** What is still being judged is no longer shown either. */
  function clear() {
    clearTimeout(timer);
    turn += 1;
    area.value = '';
    put(decoded);
    put(verdicts);
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(() => { if (area.value.trim()) judge(); }, 400);
  }

  async function judge() {
    const token = area.value.trim().replace(/^bearer\s+/i, '');
    if (!token) return judged.say('Paste a token first, or mint one.');
    const mine = ++turn;
    await judged.run(async () => {
      const request = Object.fromEntries([...facts.querySelectorAll('input')].filter(input => input.value).map(input => [input.name, input.value]));
      const answer = await sandbox.call('POST', 'tokens/explain', { token, request });
      if (mine !== turn) return;
      const best = answer.verdicts.find(verdict => verdict.accepted);
      const owner = best ?? [...answer.verdicts].sort((a, b) => failures(a) - failures(b))[0];
      put(decoded, tokenView(token, app.now(), owner?.findings));
      put(verdicts, answer.verdicts.map(verdict => draw(verdict, verdict === owner)));
    });
  }

  vendors().then(all => {
    const asked = new Map(all.flatMap(vendor => vendor.request_facts.map(fact => [fact.name, fact.about])));
    put(facts, [...asked].map(([name, about]) => field(name, h('input', { name }), about)));
  }).catch(judged.fail);
  sandbox.get('tokens').then(({ kinds }) => put(mint, form(kinds))).catch(judged.fail);

  function form(kinds) {
    const made = outcome();
    const members = h('div.fields');
    const about = h('p.note');
    const defect = select([], null, () => { name.hidden = !defect.value.includes('CLAIM'); }, { 'aria-label': 'Defect' });
    const name = h('input', { 'aria-label': 'Claim that is missing', placeholder: 'claim', value: 'exp', hidden: true });
    const claims = h('input', { placeholder: '{"role": "admin"}', 'aria-label': 'Claims' });
    const kind = select(kinds.map((each, index) => [index, `${each.vendor} ${each.kind}`]), 0, choose, { 'aria-label': 'Kind' });
    const link = copier('Copy token', () => area.value.trim());

    function choose() {
      const chosen = kinds[kind.value];
      put(about, chosen.about);
      put(members, Object.entries(chosen.members).map(([key, text]) => field(key, h('input', { name: key }), text)));
      put(defect, chosen.defects.map(each => h('option', { value: each }, each)));
      name.hidden = true;
    }

    async function make(wrong) {
      const chosen = kinds[kind.value];
      await made.run(async () => {
        const order = Object.fromEntries([...members.querySelectorAll('input')].filter(input => input.value).map(input => [input.name, input.value]));
        if (claims.value.trim()) order.claims = parsed(claims.value);
        if (wrong) order.defect = defect.value.replace('CLAIM', name.value.trim());
        const minted = await sandbox.call('POST', `tokens/${chosen.vendor}/${chosen.kind}`, order);
        area.value = minted.token;
        made.say(wrong ? `Minted with defect ${order.defect}.` : 'Minted, valid.');
        await judge();
      });
    }

    choose();
    return [h('h2', 'Mint a token'), field('Kind', kind), about, fold('Its members', () => [members, field('claims', claims, 'a JSON object that overrides claims')]),
      h('div.tools', button('Mint a valid one', () => make(false)), h('span.inline', defect, name, button('Mint with this defect', () => make(true)), link)), made.element];
  }

  if (before) later();
  return { node, update() {}, token: () => area.value };
}

const failures = verdict => verdict.findings.filter(finding => finding.outcome === 'failed').length + (verdict.kind ? 0 : 100);

function parsed(text) {
  try { return JSON.parse(text); } catch (problem) { throw new Error(`claims is not JSON: ${problem.message}`); }
}

function draw(verdict, isOpen) {
  const sign = verdict.accepted ? '✓' : '✕';
  const what = verdict.accepted ? 'accepts it' : `refuses it: ${verdict.failure ?? 'not its own'}`;
  return h(`section.panel.${verdict.accepted ? 'fine' : 'refused'}`, { 'aria-label': `${verdict.vendor} ${verdict.accepted ? 'accepts it' : 'refuses it'}` },
    h('h2', h('span.sign', { 'aria-hidden': 'true' }, sign), ` ${verdict.vendor} ${what}`),
    h('p.note', `Read as kind ${verdict.kind ?? 'unknown'}${verdict.account ? `, of ${verdict.account}` : ''}.`),
    verdict.reason ? h('p.why', verdict.reason) : null,
    verdict.answer ? h('div', h('p', `It would answer ${verdict.answer.status}:`), code(verdict.answer.body)) : null,
    isOpen || verdict.accepted ? checkTable(verdict.findings, `Checks of ${verdict.vendor}`) : fold('Rule by rule', () => checkTable(verdict.findings, `Checks of ${verdict.vendor}`)),
    verdict.clients.map(client => fold(`The client ${client.client} ${client.usable ? 'would send it' : 'would not send it'}`, () => checkTable(client.findings, client.client))));
}
