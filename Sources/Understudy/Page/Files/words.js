// How things are said: moments, reasons as sentences, outcomes with a sign and a word.

export const OUTCOMES = {
  failed: ['✕', 'failed'], noted: ['!', 'noted'], 'not-judged': ['–', 'not judged'], passed: ['✓', 'passed'],
};

/** 90 → "1 min 30 s". */
export function span(seconds) {
  const all = Math.round(Math.abs(seconds));
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const words = [];
  let rest = all;
  for (const [size, unit] of parts) {
    if (rest >= size && words.length < 2) words.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return words.join(' ') || '0 s';
}

/** A moment beside now: "31 s ago", "in 5 min". */
export function relative(seconds, now) {
  const distance = now - seconds;
  if (Math.abs(distance) < 1) return 'now';
  return distance > 0 ? `${span(distance)} ago` : `in ${span(distance)}`;
}

/** Unix seconds of an RFC 3339 text. */
export const unix = text => Date.parse(text) / 1000;

/** Unix seconds or a text as date and time in UTC, which is how the sandbox's clock reads. */
export function absolute(value) {
  const date = new Date(typeof value === 'number' ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
}

/** “1 call”, “2 calls”. */
export const counted = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** The time of day of an entry. */
export const timeOfDay = text => text.slice(11, 19);

/** A value for people: texts as they are, the rest as JSON, nothing as "nothing". */
export function shown(value) {
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** "claim-exp-present" → "claim exp present". */
export const plain = check => check.replaceAll('-', ' ');

/** The first failed check of a brief entry's reason: "expiry: found X; expected Y [source]". */
function parts(reason) {
  const match = /^([\w.-]+): (?:found (.*?); )?expected (.*?)(?: \[([^\]]*)\])?$/s.exec(reason ?? '');
  return match && { check: match[1], found: match[2], expected: match[3], source: match[4] };
}

const seconds = text => Number(/^-?\d+(\.\d+)?/.exec(text ?? '')?.[0] ?? NaN);

/** What influenced an answer, in words; undefined for nothing. */
export function intervened(entry) {
  if (!entry.intervention) return undefined;
  return [entry.intervention].flat().map(part => typeof part === 'string' ? part : Object.entries(part)
    .filter(([, value]) => value === null || typeof value !== 'object')
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`).join(', ')).join('; ');
}

/** Why an entry came out as it did, in a sentence; `about` says what its failure means. */
export function sentence(entry, about) {
  if (entry.intervention) return intervened(entry);
  const near = entry.nearest_routes?.[0];
  if (entry.route === null && entry.status >= 400) {
    const what = entry.reason ?? 'no route is at this path';
    return near && !what.includes('nearest') ? `${what}; did you mean ${near}?` : what;
  }
  const said = parts(entry.reason);
  if (said) return judged(said, entry, about);
  if (entry.reason) return entry.reason;
  return about && entry.failure ? about : entry.note ?? '';
}

function judged(said, entry, about) {
  const moment = seconds(said.found);
  if (moment > 253402300799) return `${said.check === 'expiry' ? 'exp' : plain(said.check)} is ${moment}, beyond the year 9999: milliseconds instead of seconds?`;
  if (said.check === 'expiry' && moment > 1e8) {
    return `token expired ${span(unix(entry.at) - moment)} before the call (exp ${absolute(moment)})`;
  }
  if (said.check === 'not-before' && moment > 1e8) {
    return `token is not valid until ${span(moment - unix(entry.at))} after the call (nbf ${absolute(moment)})`;
  }
  const found = said.found === undefined || said.found === 'nothing' ? 'found nothing' : `found ${said.found}`;
  return `${plain(said.check)}: ${found}; expected ${said.expected}${about && !said.expected.includes('. ') ? ` — ${about}` : ''}`;
}

/** The sign and the word of an entry's kind, which goes with its colour. */
export function kind(entry) {
  if (entry.intervention) return { name: 'intervened', sign: '!', word: 'intervention' };
  if (entry.route === null && entry.status >= 400) return { name: 'unmatched', sign: '?', word: 'unmatched' };
  if (entry.failure || entry.status >= 400) return { name: 'refused', sign: '✕', word: 'refused' };
  if (entry.note) return { name: 'noted', sign: '•', word: 'accepted with a remark' };
  return { name: 'fine', sign: '✓', word: 'answered' };
}

/** Where a source leads: RFCs to their section, the vendors' documents to what is known from them. */
export function sourceLink(source) {
  const rfc = /RFC (\d{4})(?: section ([\d.]+\d|\d))?/.exec(source);
  if (rfc) return { href: `https://www.rfc-editor.org/rfc/rfc${rfc[1]}${rfc[2] ? `#section-${rfc[2]}` : ''}`, isOutside: true };
  const document = source.split(/[,;:]/)[0].trim();
  return { href: `#/routes?text=${encodeURIComponent(document)}`, isOutside: false };
}

/** Decodes a part of a token; null where that is impossible. */
export function decode(part) {
  try {
    const text = atob(part.replaceAll('-', '+').replaceAll('_', '/'));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, each => each.charCodeAt(0))));
  } catch {
    return null;
  }
}

/** The tokens in a request, wherever they stand: fields, query and content. */
export function tokens(request) {
  const text = [request.target, ...request.headers.map(([, value]) => value), JSON.stringify(request.body ?? '')].join('\n');
  return [...new Set(text.match(/eyJ[\w-]*\.[\w-]*\.[\w*-]*/g) ?? [])];
}
