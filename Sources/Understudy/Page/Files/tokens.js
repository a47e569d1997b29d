// The token debugger: paste or mint, and the vendors' verdicts. Nothing that is pasted is kept anywhere.

import { h, put, button, copier, field, filled, select, fold, outcome, code, signed } from './dom.js';
import { titles } from './api.js';
import { checkTable } from './checks.js';
import { tokenView } from './token.js';

export const title = 'Tokens';

/** `before` is the view of another sandbox, whose token is judged in this one. */
export function view(app, sandbox, all, before) {
  const area = h('textarea', { rows: 5, spellcheck: 'false', autocomplete: 'off', placeholder: 'eyJ…', label: 'Token', oninput: later, value: before?.token() });
  const asked = new Map(all.flatMap(vendor => vendor.request_facts.map(fact => [fact.name, fact.about])));
  const facts = h('div.fields', [...asked].map(([name, about]) => field(name, h('input', { name }), about)));
  const judged = outcome();
  const decoded = h('div');
  const verdicts = h('div.verdicts');
  const mint = h('section.panel', { label: 'Mint' });
  const node = h('div.page', h('h1', 'Tokens'),
    h('div.columns',
      h('section.panel', { label: 'Judge' }, h('h2', 'Judge a token'), area, fold('Facts of the request', () => facts),
        h('div.tools', button('Judge it', judge), button('Clear', clear)), judged.element,
        h('p.note', 'Nothing is stored, here or on the server.'), decoded),
      mint),
    verdicts);
  let timer = null;
  let turn = 0;

  function clear() {
    clearTimeout(timer);
    // What is still being judged is no longer shown either.
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
      const request = Object.fromEntries(filled(facts));
      const answer = await sandbox.call('POST', 'tokens/explain', { token, request });
      if (mine !== turn) return;
      const [best, ...others] = answer.verdicts.sort((a, b) => b.accepted - a.accepted || failures(a) - failures(b));
      put(decoded, tokenView(token, app.now(), best.findings));
      // What vendors say to a token that is not theirs is noise.
      put(verdicts, draw(best), others.map(verdict => verdict.accepted ? draw(verdict) : fold(said(verdict), () => draw(verdict))));
    });
  }

  sandbox.get('tokens').then(({ kinds }) => put(mint, form(kinds))).catch(judged.fail);

  function form(kinds) {
    const made = outcome();
    const members = h('div.fields');
    const about = h('p.note');
    const defect = select([], null, () => { name.hidden = !defect.value.includes('CLAIM'); }, { label: 'Defect' });
    const name = h('input', { label: 'Claim that is missing', placeholder: 'claim', value: 'exp', hidden: true });
    const claims = h('input', { placeholder: '{"role": "admin"}', label: 'Claims' });
    const kind = select(kinds.map((each, index) => [index, `${titles.get(each.vendor)} ${each.kind}`]), 0, choose, { label: 'Kind' });

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
        const order = Object.fromEntries(filled(members));
        if (claims.value.trim()) order.claims = JSON.parse(claims.value);
        if (wrong) order.defect = defect.value.replace('CLAIM', name.value.trim());
        area.value = (await sandbox.call('POST', `tokens/${chosen.vendor}/${chosen.kind}`, order)).token;
        made.say(wrong ? `Minted with defect ${order.defect}.` : 'Minted, valid.');
        await judge();
      });
    }

    choose();
    return [h('h2', 'Mint a token'), field('Kind', kind), about, fold('Its members', () => [members, field('claims', claims, 'a JSON object that overrides claims')]),
      h('div.tools', button('Mint a valid one', () => make(false)), h('span.inline', defect, name, button('Mint with this defect', () => make(true)), copier('Copy token', () => area.value.trim()))), made.element];
  }

  if (before) later();
  return { node, update() {}, token: () => area.value };
}

const failures = verdict => verdict.findings.filter(finding => finding.outcome === 'failed').length + (verdict.kind ? 0 : 100);

const said = ({ vendor, accepted, failure }) => `${titles.get(vendor)} ${accepted ? 'accepts it' : `refuses it: ${failure ?? 'not its own'}`}`;

function draw(verdict) {
  return h(`section.panel.${verdict.accepted ? 'fine' : 'refused'}`, { label: said(verdict).split(':')[0] },
    h('h2', signed(verdict.accepted ? '✓' : '✕'), ` ${said(verdict)}`),
    h('p.note', `Read as kind ${verdict.kind ?? 'unknown'}${verdict.account ? `, of ${verdict.account}` : ''}.`),
    verdict.reason && h('p.why', verdict.reason),
    verdict.answer && h('div', h('p', `It would answer ${verdict.answer.status}:`), code(verdict.answer.body)),
    checkTable(verdict.findings, `Checks of ${titles.get(verdict.vendor)}`, verdict.vendor),
    verdict.clients.map(client => fold(`The client ${client.client} ${client.usable ? 'would send it' : 'would not send it'}`, () => checkTable(client.findings, client.client, verdict.vendor))));
}
