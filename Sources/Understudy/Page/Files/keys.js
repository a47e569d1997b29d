// Keys: what issuers publish, how often it was fetched, and the drills.

import { h, put, button, fold, outcome, code, table, empty, repeated } from './dom.js';
import { titles } from './api.js';
import { relative, absolute, counted } from './words.js';

export const title = 'Keys';

async function fetchingLine(sandbox, [issuer]) {
  const kind = issuer && (await sandbox.get('tokens')).kinds.find(each => each.vendor === issuer.vendor && each.members.issuer);
  if (!kind) return null;
  const { token } = await sandbox.call('POST', `tokens/${kind.vendor}/${kind.kind}`, { issuer: issuer.issuer });
  return sandbox.sampleLine(issuer.vendor, `Bearer ${token}`);
}

const LOSS = '; only a reset of the sandbox brings the lost key back';
const DRILLS = {
  overlap: 'a second key is published beside the first', retire: `the older key is no longer published${LOSS}`, replace: `another key takes the place of the first at once${LOSS}`,
  'same-kid': `another key takes its place under the same id${LOSS}`, break: 'the keys can no longer be fetched', repair: 'the keys can be fetched again',
};

export function view(app, sandbox) {
  const said = outcome();
  /** What a drill did is said beside its issuer, also once that is drawn again. */
  const results = new Map();
  const list = h('div');
  const node = h('div.page', h('h1', 'Keys'), said.element, list);

  function draw(value) {
    put(list,
      h('h2', 'Issuers'), h('p.note', 'A drill changes what is published. Keys that were fetched stay in use until the time in “Kept until”.'), value.issuers.length ? value.issuers.map(issuer) : h('p.empty', 'No issuer publishes keys.'),
      h('h2', 'Fetched keys'), value.fetched.some(each => each.fetches) ? null : empty('No keys were fetched yet. A call with a token of such an issuer fetches them:', fetchingLine(sandbox, value.fetched)),
      table('Fetched keys', ['Vendor', 'Issuer', 'From', 'Keys', 'Fetches', 'Fetched', 'Kept until', 'Problem'], value.fetched.map(each => [
        titles.get(each.vendor), each.issuer, h('code', each.url), each.kids.map(kid => kid ?? 'no id').join(', '), each.fetches, moment(each.fetched_at), moment(each.expires_at), each.problem ?? '–'])),
      h('h2', 'Shared secrets'), table('Shared secrets', ['Vendor', 'Owner', 'Algorithm', 'Bytes'], value.secrets.map(each => [titles.get(each.vendor), each.owner, each.algorithm, each.bytes])));
  }

  const moment = seconds => seconds === null ? '–' : h('span', { title: absolute(seconds) }, relative(seconds, app.now()));

  function issuer(each) {
    const name = `${titles.get(each.vendor)} ${each.issuer}`;
    const said = results.get(name) ?? outcome();
    results.set(name, said);
    const drill = what => said.run(async () => {
      await sandbox.call('POST', `keys/${each.vendor}/${encodeURIComponent(each.issuer)}/${what}`);
      said.say(`${name}: ${DRILLS[what]}.`);
      await live.again();
    });
    return h(`section.panel${each.broken ? '.intervened' : ''}`, { label: name },
      h('h3', name, h('span.note', ` ${each.algorithm}, fetched ${counted(each.fetches, 'time')}${each.broken ? '; ! broken: nobody can fetch them' : ''}`)),
      h('ul', each.keys.map(key => h('li', `${key.role}: `, h('code', key.kid ?? 'no id'), fold('Public key', () => code(key.jwk))))),
      h('ul.drills', Object.keys(DRILLS).map(what => h('li', button(what, () => drill(what), { label: `${what} ${name}` }), DRILLS[what]))),
      said.element);
  }

  const live = repeated(node, said, 2000, () => sandbox.get('keys'), draw);
  return live;
}
