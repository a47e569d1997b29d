// How things are said: moments, reasons, outcomes.

export const OUTCOMES = {
  failed: ['✕', 'failed'], noted: ['!', 'noted'], 'not-judged': ['–', 'not judged'], passed: ['✓', 'passed'],
};

/** 90 → "1 min 30 s". */
export function span(seconds) {
  let rest = Math.round(Math.abs(seconds));
  const words = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']].map(([size, unit]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count ? `${count} ${unit}` : null;
  });
  return words.filter(Boolean).slice(0, 2).join(' ') || '0 s';
}

/** A moment beside now: "31 s ago", "in 5 min". */
export function relative(seconds, now) {
  const distance = now - seconds;
  if (Math.abs(distance) < 1) return 'now';
  return distance > 0 ? `${span(distance)} ago` : `in ${span(distance)}`;
}

export const unix = text => Date.parse(text) / 1000;

/** A moment in UTC, as the sandbox's clock reads. */
export function absolute(value) {
  const date = new Date(typeof value === 'number' ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
}

export const counted = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

export const timeOfDay = text => text.slice(11, 19);

/** A value for people: texts as they are, the rest as JSON, nothing as "nothing". */
export function shown(value) {
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** "claim-exp-present" → "claim exp present". */
export const plain = check => check.replaceAll('-', ' ');

/** A value without a break, cut in its middle if it is long: ids differ at their ends. */
export const short = text => text.length > 30 && !/\s/.test(text) ? `${text.slice(0, 14)}…${text.slice(-8)}` : text;
const quoted = text => /\s|^\d+$/.test(text) ? text : `“${short(text)}”`;
const bare = text => text?.replace(/^"(.*)"$/s, '$1');
const named = check => plain(check.replace(/-present$/, ''));

/** The first failed check of an entry's reason: "expiry: found X; expected Y. Note [source]". */
export function failedCheck(reason) {
  const match = /^([\w.-]+): (?:found (.*?); )?expected (.*?)(?:\. (.*?))?(?: \[[^\]]*\])?$/s.exec(reason ?? '');
  return match && { check: match[1], found: bare(match[2]), expected: bare(match[3]), note: match[4] };
}

/** What influenced an answer, in words; undefined for nothing. */
export function intervened(entry) {
  return entry.intervention && [entry.intervention].flat().map(part => typeof part === 'string' ? part : Object.entries(part)
    .filter(([, value]) => value === null || typeof value !== 'object')
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`).join(', ')).join('; ');
}

/** Why an entry came out as it did, without the two values where they are shown below. */
export const sentence = (entry, isProven) =>
  [kind(entry).name === 'intervened' ? entry.note : cause(entry, isProven), intervened(entry)].filter(Boolean).join('; ');

function cause(entry, isProven) {
  if (entry.route === null && entry.status >= 400) {
    const near = entry.nearest_routes?.[0];
    const what = entry.reason ?? 'no route is at this path';
    return near && !what.includes('nearest') ? `${what}; did you mean ${near}?` : what;
  }
  const failed = failedCheck(entry.reason);
  return failed ? judged(failed, unix(entry.at), isProven) : entry.reason ?? (entry.failure ? plain(entry.failure) : entry.note ?? '');
}

function judged({ check, found, expected, note }, at, isProven) {
  const moment = Number.parseFloat(found);
  if (moment > 253402300799) return `${check === 'expiry' ? 'exp' : plain(check)} is ${moment}, beyond the year 9999: milliseconds instead of seconds?`;
  if (check === 'expiry' && moment > 1e8) return `token expired ${span(at - moment)} before the call (exp ${absolute(moment)})`;
  if (check === 'not-before' && moment > 1e8) return `token is not valid until ${span(moment - at)} after the call (nbf ${absolute(moment)})`;
  if (check === 'signature' && note) return note;
  if (/^no(thing)?\b/.test(found ?? 'no')) return `${named(check)} is missing${isProven ? '' : `; expected ${expected}`}`;
  if (check.startsWith('claim-')) return `${named(check)} is ${JSON.stringify(found)}, not a ${expected}`;
  return `${named(check)} is ${isProven ? 'not what the rule expects' : `${quoted(found)}, not ${quoted(expected)}`}`;
}

export function fix({ check, expected, note }) {
  if (['signature', 'algorithm'].includes(check)) return `Sign the token with ${expected}.`;
  if (note) return note;
  if (check === 'expiry') return 'Renew the token: its exp must lie after the call.';
  if (check === 'not-before') return 'Wait until nbf, or issue the token with an earlier one.';
  if (check.startsWith('claim-')) return `Issue the token with ${named(check)}: ${shown(expected)}.`;
  return `The rule expects ${quoted(shown(expected))}.`;
}

/** Two values, each as what is the same before, what differs, and what is the same after; null where nothing is. */
export function differing(one, other) {
  const most = Math.min(one.length, other.length);
  let [start, end] = [0, 0];
  while (start < most && one[start] === other[start]) start += 1;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  if (/\s/.test(other) || start + end === 0) return null;
  return [one, other].map(text => [text.slice(0, start), text.slice(start, text.length - end), text.slice(text.length - end)]);
}

/** The sign and the word of an entry's kind, which goes with its colour. */
export function kind(entry) {
  const as = (name, sign, word = name) => ({ name, sign, word });
  const by = [entry.intervention].flat().find(part => typeof part === 'string');
  if (entry.intervention && (!entry.failure || entry.reason?.startsWith(by?.split(';')[0]))) return as('intervened', '!', 'intervention');
  if (entry.route === null && entry.status >= 400) return as('unmatched', '?');
  if (entry.failure || entry.status >= 400) return as('refused', '✕');
  return entry.note ? as('noted', '•', 'accepted with a remark') : as('fine', '✓', 'answered');
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
