// Keys: what issuers publish, how often it was fetched, and the drills.

import { h, put, button, fold, outcome, code, table, empty, repeated } from './dom.js';
import { relative, absolute, counted } from './words.js';

export const title = 'Keys';

/** A call whose token makes the server fetch keys. */
async function fetchingLine(sandbox, [issuer]) {
  const kind = issuer && (await sandbox.get('tokens')).kinds.find(each => each.vendor === issuer.vendor && each.members.issuer);
  if (!kind) return null;
  const { token } = await sandbox.call('POST', `tokens/${kind.vendor}/${kind.kind}`, { issuer: issuer.issuer });
  return sandbox.sampleLine(issuer.vendor, `Bearer ${token}`);
}

const DRILLS = {
  overlap: 'a second key is published beside the first', retire: 'the older key is no longer published', replace: 'another key takes the place of the first at once',
  'same-kid': 'another key takes its place under the same id', break: 'the keys can no longer be fetched', repair: 'the keys can be fetched again',
};
/** What destroys a key, which cannot be undone alone. */
const LOSSES = ['retire', 'replace', 'same-kid'];

export function view(app, sandbox) {
  const said = outcome();
  const list = h('div');
  const node = h('div.page', h('h1', 'Keys'), said.element, list);
  let drawn = '';

  async function read() {
    const value = await sandbox.get('keys');
    const text = JSON.stringify(value);
    if (text === drawn) return;
    drawn = text;
    put(list,
      h('h2', 'Issuers'), value.issuers.length ? value.issuers.map(issuer) : h('p.empty', 'No issuer publishes keys.'),
      h('h2', 'Fetched keys'), value.fetched.some(each => each.fetches) ? null : empty('No keys were fetched yet. A call with a token of such an issuer fetches them:', fetchingLine(sandbox, value.fetched)),
      value.fetched.length ? table('Fetched keys', ['Vendor', 'Issuer', 'From', 'Keys', 'Fetches', 'Fetched', 'Kept until', 'Problem'], value.fetched.map(each => [
        each.vendor, each.issuer, h('code', each.url), each.kids.map(kid => kid ?? 'without id').join(', '), each.fetches, moment(each.fetched_at), moment(each.expires_at), each.problem ?? '–'])) : null,
      h('h2', 'Shared secrets'), table('Shared secrets', ['Vendor', 'Owner', 'Algorithm', 'Bytes'], value.secrets.map(each => [each.vendor, each.owner, each.algorithm, each.bytes])));
  }

  const moment = seconds => seconds === null ? '–' : h('span', { title: absolute(seconds) }, relative(seconds, app.now()));

  function issuer(each) {
    const name = `${each.vendor} ${each.issuer}`;
    const drill = what => said.run(async () => {
      await sandbox.call('POST', `keys/${each.vendor}/${encodeURIComponent(each.issuer)}/${what}`);
      said.say(`${name}: ${DRILLS[what]}.`);
      await read();
    });
    return h(`section.panel${each.broken ? '.intervened' : ''}`, { 'aria-label': name },
      h('h3', name, h('span.note', ` ${each.algorithm}, fetched ${counted(each.fetches, 'time')}${each.broken ? '; ! broken: nobody can fetch them' : ''}`)),
      h('ul', each.keys.map(key => h('li', `${key.role}: `, h('code', key.kid ?? 'without id'), fold('Public key', () => code(key.jwk))))),
      h('div.tools', Object.keys(DRILLS).map(what => button(what, () => drill(what), { title: DRILLS[what] + (LOSSES.includes(what) ? '; only a reset of the sandbox brings the lost key back' : ''), 'aria-label': `${what} ${name}` }))));
  }

  return repeated(node, read, said, 2000);
}
