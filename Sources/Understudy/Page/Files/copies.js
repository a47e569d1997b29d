// An entry as something to run: a curl line, a contract case, an expectation in Swift.

import { curlLine } from './api.js';
import { tokens, decode } from './words.js';

const HOP = /^(host|content-length|connection|accept|accept-.*|user-agent|upgrade-insecure-requests|transfer-encoding|x-understudy-sandbox|sec-fetch-.*|cache-control|pragma|referer|origin)$/i;

/** A new, valid token like the one that came; its times begin now. */
async function minted(sandbox, token, vendor) {
  const [{ verdicts }, { kinds }] = await Promise.all([sandbox.call('POST', 'tokens/explain', { token, vendor }), sandbox.get('tokens')]);
  const known = kinds.find(each => each.vendor === vendor && each.kind === verdicts[0]?.kind);
  if (!known) return null;
  const claims = { ...decode(token.split('.')[1] ?? '') };
  for (const name of ['exp', 'iat', 'nbf', 'jti', 'nonce']) delete claims[name];
  return (await sandbox.call('POST', `tokens/${vendor}/${known.kind}`, { claims })).token;
}

async function replacements(sandbox, { request, vendor }) {
  const pairs = await Promise.all((vendor ? tokens(request) : []).map(async token => [token, await minted(sandbox, token, vendor)]));
  return text => pairs.reduce((all, [old, fresh]) => fresh ? all.replaceAll(old, fresh) : all, text);
}

/** The call as a line for a shell, after a remark on what the journal does not show. */
export async function asCurl(sandbox, entry) {
  const [replace, archive] = await Promise.all([replacements(sandbox, entry), sandbox.get(`journal/${entry.id}?format=har`)]);
  const { method, headers, postData } = archive.log.entries[0].request;
  const fields = headers.filter(({ name }) => !HOP.test(name)).map(({ name, value }) => [name, replace(value)]);
  const target = replace(entry.request.target);
  const content = replace(postData?.text ?? '');
  const masked = Object.entries({ 'the target': target, 'the fields': fields.join(), 'the body': content }).filter(([, text]) => text.includes('***')).map(([name]) => name);
  // Only words that an interactive shell without comments does not act on either.
  const remarks = [
    postData?.comment ? `# The body was not kept: ${postData.comment}` : null,
    masked.length ? `# The journal masks secrets with asterisks in ${masked.join(' and ')}: put yours there` : null,
  ];
  // Left to itself, curl calls content a form.
  if (content && !fields.some(([name]) => name.toLowerCase() === 'content-type')) fields.push(['Content-Type', null]);
  return [...remarks.filter(Boolean), curlLine(method, sandbox.address + target, fields, content)].join('\n');
}

export function asSwift(entry) {
  const where = ['vendor', 'route', 'failure', 'status'].filter(name => entry[name] !== null).map(name => `"${name}": ${JSON.stringify(entry[name])}`);
  return `await server.expectCalls(.atLeast(1), where: [${where.join(', ')}])`;
}
