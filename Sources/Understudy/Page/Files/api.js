// The way to the control API, which is all that this page uses.

const KEY = 'understudy-control-token';
const ROOT = '/_understudy/';

export class Problem extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

/** Whether the server is there and knows us, the vendors' port if it is another, and how a view's address is made. */
export const place = { isOnline: true, isKnown: true, port: null, link: () => '' };

/** A host such as shop.localhost selects its sandbox; then no field may name another. */
export const hostSandbox = location.hostname.endsWith('.localhost') ? location.hostname.slice(0, -10) : null;
const path = location.pathname.match(/^\/~([a-z0-9-]+)\//);
export const firstSandbox = hostSandbox ?? path?.[1] ?? 'default';

let asks = null;
let ask = async () => null;
/** Who asks for the control token when the API does, and is told whether one was wrong. */
export function askWith(act) { ask = act; }

function note(name, is) {
  if (place[name] === is) return;
  place[name] = is;
  document.dispatchEvent(new Event('connection'));
}

/** A sandbox by its name. Whoever acts for one holds it: which one the page shows may change before an answer comes. */
export class Sandbox {
  constructor(name) { this.name = name; }

  #below(origin) { return hostSandbox || this.name === 'default' ? origin : `${origin}/~${this.name}`; }

  /** Where an app reaches it; a control port of its own is not where the vendors are. */
  get address() { return this.#below(place.port ? `http://${location.hostname}:${place.port}` : location.origin); }

  headers(extra) {
    if (hostSandbox && this.name !== hostSandbox) throw new Problem(0, 'other-host', `This address acts in ${hostSandbox} alone; choose ${this.name} above.`);
    return hostSandbox ? { ...extra } : { ...extra, 'X-Understudy-Sandbox': this.name };
  }

  /** Makes a control call; gives its JSON, or text where it is none. */
  async call(method, what, content, signal) {
    for (;;) {
      const token = sessionStorage.getItem(KEY);
      const response = await send(method, what, this.headers(token ? { Authorization: `Bearer ${token}` } : {}), content, signal);
      note('isKnown', response.status !== 401);
      if (response.status === 401) {
        // Another call may have been given one meanwhile.
        if (sessionStorage.getItem(KEY) !== token) continue;
        asks ??= ask(token !== null).finally(() => { asks = null; });
        const given = await asks;
        if (!given) throw new Problem(401, 'control-token-wrong', 'The control API requires its bearer token.');
        sessionStorage.setItem(KEY, given);
        continue;
      }
      const text = await response.text();
      const value = text && response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
      if (!response.ok && response.status !== 409) {
        throw new Problem(response.status, value?.error?.code, value?.error?.message ?? `The answer is ${response.status}.`);
      }
      return value;
    }
  }

  get(what, signal) { return this.call('GET', what, undefined, signal); }

  /** A control call as a line for a shell; the control token is left to the shell, so that nobody reads it over a shoulder. */
  controlLine(method, what, content) {
    const line = curlLine(method, this.#below(location.origin) + ROOT + what, [], content && JSON.stringify(content));
    return sessionStorage.getItem(KEY) ? `${line} \\\n  -H "Authorization: Bearer $UNDERSTUDY_CONTROL_TOKEN"` : line;
  }

  /** A call of a vendor that works now as such a line; null where the fixtures leave nothing to sign with. */
  async sampleLine(vendor, authorization) {
    const { sample } = await this.get(`vendors/${vendor}/sample`);
    if (!sample) return null;
    const fields = sample.headers.map(([name, value]) => [name, authorization && name.toLowerCase() === 'authorization' ? authorization : value]);
    return curlLine(sample.method, this.address + sample.path, fields, sample.body);
  }
}

async function send(method, what, headers, content, signal) {
  if (content !== undefined) headers['Content-Type'] = 'application/json';
  try {
    const response = await fetch(ROOT + what, { method, headers, signal, cache: 'no-store', body: JSON.stringify(content) });
    note('isOnline', true);
    return response;
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    note('isOnline', false);
    throw new Problem(0, 'gone', 'The server does not answer. This page keeps what it has and tries again.');
  }
}

let known = null;
/** The vendors' names for people, by those for programs, once the vendors have been read. */
export const titles = new Map();
/** The vendors with routes, failures and switches, read once. */
export function vendors() {
  known ??= new Sandbox(firstSandbox).get('vendors').then(({ vendors, port }) => {
    place.port = port;
    for (const vendor of vendors) titles.set(vendor.id, vendor.title);
    return vendors;
  }).catch(problem => { known = null; throw problem; });
  return known;
}

/** A text as one word of a shell. */
export const quoted = text => `'${String(text).replaceAll("'", "'\\''")}'`;

/** A call as a line for a shell. Of itself curl expands braces and shortens paths; a field with no value ends in a semicolon, and null keeps one out. */
export function curlLine(method, url, fields, content) {
  const how = [method === 'HEAD' ? '-I' : `-i -X ${method}`, '-g', ...url.includes('/.') ? ['--path-as-is'] : []].join(' ');
  const lines = [`curl ${how} ${quoted(url)}`, ...fields.map(([name, value]) => `-H ${quoted(value ? `${name}: ${value}` : name + (value === null ? ':' : ';'))}`)];
  if (content) lines.push(`--data-raw ${quoted(content)}`);
  return lines.join(' \\\n  ');
}

export function query(values) {
  return '?' + new URLSearchParams(Object.entries(values).filter(([, value]) => value !== undefined));
}
