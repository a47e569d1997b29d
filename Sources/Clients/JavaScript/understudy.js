// Understudy from JavaScript test suites: start a server or attach to one, give each test a sandbox, and control it.
//
// Needs nothing but `fetch`: Node 18 or newer, or a browser. Only Node starts a server.

// What can go wrong, each with words of the server where it has any.

/** Any error of this module. */
export class UnderstudyError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No server was started: there is no program, or it ended with a complaint. */
export class StartFailed extends UnderstudyError {}

/** No server answered, or what answered is none of ours. */
export class Unreachable extends UnderstudyError {}

/** The server refused a control call; `message` is its own and says what would be right. */
export class Refusal extends UnderstudyError {
  constructor(call, status, code, message) {
    super(message);
    this.call = call;
    this.status = status;
    this.code = code;
  }
}

/** The journal does not hold the calls that a test expects; the message lists the nearest and what each missed. */
export class UnmetExpectation extends UnderstudyError {}

// Begin of what Sources/Clients/generate writes.

/** All operations of the control API, for one sandbox; a refused call throws a `Refusal`. */
export class Control {
  #send;

  constructor(send) {
    this.#send = send;
  }

  /** Whether the server is well, and what it stands in for. */
  health() {
    return this.#send("GET", "health", { expected: [200] });
  }

  /** That the process runs; a supervisor restarts one that does not answer. */
  healthLive() {
    return this.#send("GET", "health/live", { expected: [200] });
  }

  /**
   * Whether a proxy should send requests here: not while the server stops, nor while it cannot show the other
   * replicas that it is alive.
   */
  healthReady() {
    return this.#send("GET", "health/ready", { expected: [200, 503] });
  }

  /** This description: OpenAPI 3.1. */
  openapi() {
    return this.#send("GET", "openapi.json", { expected: [200] });
  }

  /** What is emulated: each vendor's routes, failures, switches and sample values, and where they are known from. */
  vendorsList() {
    return this.#send("GET", "vendors", { expected: [200] });
  }

  /** A call of the vendor that works now, its token minted. */
  vendorsSample(vendor) {
    return this.#send("GET", `vendors/${part(vendor)}/sample`, { expected: [200] });
  }

  /** Counts of all sandboxes since the start, as Prometheus reads them; no reset clears them. */
  metrics() {
    return this.#send("GET", "metrics", { expected: [200] });
  }

  /** The exchanges that a filter admits, the oldest first. */
  journalList(query) {
    return this.#send("GET", "journal", { query, expected: [200] });
  }

  /** Forgets all exchanges. */
  journalClear() {
    return this.#send("DELETE", "journal", { expected: [204] });
  }

  /** One exchange. */
  journalGet(id, query) {
    return this.#send("GET", `journal/${part(id)}`, { query, expected: [200] });
  }

  /** Counts the exchanges of some kind; where they are too few or too many, shows those that come closest. */
  journalVerify(body, query) {
    return this.#send("POST", "journal/verify", { query, body, expected: [200, 409] });
  }

  /** What the clock shows. */
  clockGet() {
    return this.#send("GET", "clock", { expected: [200] });
  }

  /** Sets, moves, freezes and releases the clock. */
  clockSet(body) {
    return this.#send("PUT", "clock", { body, expected: [200] });
  }

  /** Has the clock show the machine's time. */
  clockClear() {
    return this.#send("DELETE", "clock", { expected: [200] });
  }

  /** Profile, switches and seed. */
  settingsGet() {
    return this.#send("GET", "settings", { expected: [200] });
  }

  /** Changes profile, switches and seed. */
  settingsSet(body) {
    return this.#send("PUT", "settings", { body, expected: [200] });
  }

  /** The kinds of token that can be minted. */
  tokensKinds() {
    return this.#send("GET", "tokens", { expected: [200] });
  }

  /** What each vendor would answer to a token, and why. */
  tokensExplain(body) {
    return this.#send("POST", "tokens/explain", { body, expected: [200] });
  }

  /** Makes a token, good or with a defect. */
  tokensMint(vendor, kind, body) {
    return this.#send("POST", `tokens/${part(vendor)}/${part(kind)}`, { body, expected: [200] });
  }

  /** The armed faults, and what each has seen. */
  faultsList() {
    return this.#send("GET", "faults", { expected: [200] });
  }

  /** Replaces the armed faults. */
  faultsSet(body) {
    return this.#send("PUT", "faults", { body, expected: [200] });
  }

  /** Disarms all faults. */
  faultsClear() {
    return this.#send("DELETE", "faults", { expected: [204] });
  }

  /** The scenarios there are, and those that are active. */
  scenariosList(query) {
    return this.#send("GET", "scenarios", { query, expected: [200] });
  }

  /** Replaces the active scenarios; each starts anew. */
  scenariosSet(body) {
    return this.#send("PUT", "scenarios", { body, expected: [200] });
  }

  /** Ends all scenarios. */
  scenariosClear() {
    return this.#send("DELETE", "scenarios", { expected: [204] });
  }

  /** What can happen to the vendors' states. */
  actionsList() {
    return this.#send("GET", "actions", { expected: [200] });
  }

  /** Lets something happen to a vendor's state. */
  stateAct(vendor, action, body) {
    return this.#send("POST", `state/${part(vendor)}/${part(action)}`, { body, expected: [200] });
  }

  /** The sandboxes in memory, by name. */
  sandboxesList(query) {
    return this.#send("GET", "sandboxes", { query, expected: [200] });
  }

  /** Sets how long a sandbox may lie unused before it goes; makes the sandbox if there is none. */
  sandboxesSet(name, body) {
    return this.#send("PUT", `sandboxes/${part(name)}`, { body, expected: [200] });
  }

  /** Forgets a sandbox with all it holds; the standard one is reset instead. */
  sandboxesDelete(name) {
    return this.#send("DELETE", `sandboxes/${part(name)}`, { expected: [204] });
  }

  /** Makes the sandbox as it was when it came into being. */
  reset() {
    return this.#send("POST", "reset", { expected: [204] });
  }

  /** What the vendor remembers in the sandbox: users, addresses and the like, without passwords and keys. */
  stateGet(vendor) {
    return this.#send("GET", `state/${part(vendor)}`, { expected: [200] });
  }

  /** Replaces what the vendor remembers in the sandbox; records that stay keep the secrets that are left out. */
  stateSet(vendor, body) {
    return this.#send("PUT", `state/${part(vendor)}`, { body, expected: [200] });
  }

  /** The keys that the vendors' issuers publish, and what else is signed with. */
  keysList() {
    return this.#send("GET", "keys", { expected: [200] });
  }

  /** Rotates or breaks the keys of an issuer. */
  keysDrill(vendor, issuer, drill) {
    return this.#send("POST", `keys/${part(vendor)}/${part(issuer)}/${part(drill)}`, { expected: [200] });
  }
}

// End of what Sources/Clients/generate writes.

/** A server that this process started, or one that it is attached to. */
export class Understudy {
  #process;
  #controlURL;
  #token;

  /** Use `start` or `attach`. */
  constructor({ url, controlURL = url, token, process }) {
    /** Where the vendors are. */
    this.url = url;
    this.#controlURL = controlURL;
    this.#token = token;
    this.#process = process;
    /** Every operation of the control API, for the sandbox that requests without a name share. */
    this.control = this.#controlOf();
  }

  /**
   * Starts a server of this process's own at a free port of the loopback; only in Node.
   *
   * `options` are those of `understudy serve`, such as `["--fixtures", "Fixtures"]`. The program is `binary`, else what
   * the environment names as UNDERSTUDY_BINARY, else `understudy` in PATH.
   */
  static async start({ options = [], binary, environment = {}, timeout = 30_000 } = {}) {
    const started = await startProcess({ options, binary, environment, timeout });
    const { http, control = http } = started.ports;
    const given = options.findLastIndex((option) => option.startsWith("--control-token"));
    const token = given < 0
      ? { ...globalThis.process.env, ...environment }.UNDERSTUDY_CONTROL_TOKEN
      : options[given].includes("=") ? options[given].slice(options[given].indexOf("=") + 1) : options[given + 1];
    return new Understudy({
      url: `http://127.0.0.1:${http}`, controlURL: `http://127.0.0.1:${control}`, token: token || undefined, process: started });
  }

  /**
   * Attaches to a running server, and asks it whether it is well.
   *
   * `controlURL` is for servers with a `--control-port`; `token` is that of `--control-token`, in Node else what the
   * environment names as UNDERSTUDY_CONTROL_TOKEN.
   */
  static async attach(url, { controlURL, token = globalThis.process?.env?.UNDERSTUDY_CONTROL_TOKEN || undefined } = {}) {
    const server = new Understudy({ url: base(url), controlURL: controlURL && base(controlURL), token });
    await server.health();
    return server;
  }

  /** The sandbox of that name, or one that nobody has; it comes into being when it is first used. */
  sandbox(name = `test-${random()}`) {
    if (!/^[a-z0-9-]{1,63}$/.test(name)) {
      throw new TypeError(`“${name}” is not a sandbox name; it has 1 to 63 of a-z, 0-9 and -`);
    }
    return new Sandbox(name, `${this.url}/~${name}`, this.#controlOf(name), this.control);
  }

  /** A new sandbox whose name begins like these words, such as a test's name. */
  sandboxFor(words) {
    const start = words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-/, "").slice(0, 54).replace(/-$/, "") || "test";
    // Two tests may differ in punctuation only, and may run side by side.
    return this.sandbox(`${start}-${random().slice(0, 8)}`);
  }

  /**
   * Runs a test in a sandbox of its own, which is removed at its end.
   *
   * When the test fails, its journal is told in words; `report` takes the text, which otherwise goes to the console.
   */
  async withSandbox(body, { name, report = (text) => console.error(text) } = {}) {
    const sandbox = name === undefined ? this.sandbox() : this.sandboxFor(name);
    try {
      return await body(sandbox);
    } catch (error) {
      report(await sandbox.journal.describe().catch((problem) => `The journal could not be read: ${problem.message}`));
      throw error;
    } finally {
      // A server that is gone has taken its sandboxes along; the test's own error says more.
      await sandbox.delete().catch(() => {});
    }
  }

  async sandboxes() {
    return (await this.control.sandboxesList()).sandboxes;
  }

  health() {
    return this.control.health();
  }

  /** A page for people: the journal as it grows, sandboxes, clocks, tokens and all else. */
  get pageURL() {
    return `${this.#controlURL}/_understudy/`;
  }

  /** The ports of a server that was started here, by `http`, `https` and `control`. */
  get ports() {
    return { ...this.#process?.ports };
  }

  /** Whether this process started it. */
  get isOwn() {
    return this.#process !== undefined;
  }

  /** Ends a server that was started here, and returns its exit code; one that was attached to goes on. */
  async stop() {
    return this.#process?.stop();
  }

  #controlOf(sandbox) {
    return new Control((method, path, call) => send(this.#controlURL, this.#token, sandbox, method, path, call));
  }
}

/**
 * A test's own world in a server: users, clock, settings, scenarios, faults, journal.
 *
 * Give the app `baseURL`; where it takes only a host, have it send `headers`.
 */
export class Sandbox {
  #others;

  /** Use `Understudy.sandbox`. */
  constructor(name, baseURL, control, others) {
    this.name = name;
    /** The base URL for the app under test, such as `http://127.0.0.1:49213/~signup`; append the path. */
    this.baseURL = baseURL;
    /** The header that selects the sandbox where the path cannot. */
    this.headers = { "X-Understudy-Sandbox": name };
    /** Every operation of the control API, for what has no name here. */
    this.control = control;
    this.clock = new Clock(control);
    this.journal = new Journal(control, name);
    // Not of this sandbox: a call that selects it would bring it back.
    this.#others = others;
  }

  /** Mints a token: `mint("rezolve/login", { expires_in: 900 })`, `mint("ims/user", { defect: "expired" })`. */
  async mint(kind, order = {}) {
    const [vendor, name] = pair(kind, "a vendor and a kind of token, such as rezolve/login");
    return (await this.control.tokensMint(vendor, name, order)).token;
  }

  /** What each vendor, or that one, would answer to a request with the token, and why. */
  async explain(token, { vendor, request } = {}) {
    return (await this.control.tokensExplain({ token, vendor, request })).verdicts;
  }

  /** Rotates or breaks the keys that an issuer publishes: `drill("ims/rotating", "replace")`. */
  async drill(issuer, drill) {
    const [vendor, name] = pair(issuer, "a vendor and an issuer, such as ims/rotating");
    return this.control.keysDrill(vendor, name, drill);
  }

  /** Has all vendors, or one, behave as documented or as observed. */
  async setProfile(profile, vendor) {
    await this.control.settingsSet({ profile: vendor === undefined ? profile : { [vendor]: profile } });
  }

  /** Sets one difference in behaviour, such as `rezolve.device-check` to `off`; `null` leaves it to the profile. */
  async setSwitch(name, value) {
    await this.control.settingsSet({ switches: { [name]: value } });
  }

  /** Makes ids and times repeatable; `null` ends that. */
  async setSeed(seed) {
    await this.control.settingsSet({ seed });
  }

  /** Replaces the active scenarios; the first has precedence, and none ends them all. */
  async activate(...scenarios) {
    await this.control.scenariosSet({ scenarios });
  }

  /**
   * Replaces the armed faults; none disarms them all.
   *
   * `arm({ route: "addressbook.list", call: 3, fail: "token-expired" })` hits the third call once,
   * `arm({ vendor: "rezolve", every: 2, fault: { delay: "2s" } })` each second one.
   */
  async arm(...faults) {
    await this.control.faultsSet({ faults });
  }

  /** Has something happen behind the app's back: `act("rezolve/remove-customer", { entity: "entity123" })`. */
  async act(action, members = {}) {
    const [vendor, name] = pair(action, "a vendor and an action, such as rezolve/remove-customer");
    return this.control.stateAct(vendor, name, members);
  }

  /** What the vendor remembers here: users and what belongs to them, without secrets. */
  state(vendor) {
    return this.control.stateGet(vendor);
  }

  /** Replaces what the vendor remembers here. */
  setState(vendor, state) {
    return this.control.stateSet(vendor, state);
  }

  /** Makes the sandbox as it was at first. */
  reset() {
    return this.control.reset();
  }

  /** Removes the sandbox with all it holds. */
  async delete() {
    try {
      await this.#others.sandboxesDelete(this.name);
    } catch (error) {
      // Nobody has used it.
      if (error.status !== 404) throw error;
    }
  }

  /**
   * Expects calls, at least one if no count is given; `within` waits for them, for a minute at most.
   *
   * `expectCalls({ route: "rua.ping" }, { exactly: 1 })`; conditions are `vendor`, `route`, `status`, `failure`, `method`,
   * `path`, `query`, `header`, `body`, `claims`, `reason` and the like. Returns the numbers of the calls in the journal.
   */
  async expectCalls(where = {}, { atLeast, atMost, exactly, within } = {}) {
    const order = { at_least: atLeast, at_most: atMost, exactly, where };
    const verdict = await this.control.journalVerify(order, { wait: within === undefined ? undefined : duration(within) });
    if (verdict.verified) return verdict.entries;
    throw new UnmetExpectation(complaint(verdict));
  }
}

/**
 * The time that a sandbox believes in: lifetimes of tokens, minting and the journal read it.
 *
 * Every change returns what the clock shows then.
 */
export class Clock {
  #control;

  constructor(control) {
    this.#control = control;
  }

  read() {
    return this.#control.clockGet();
  }

  /** The moment that it shows. */
  async now() {
    return new Date((await this.read()).unix * 1000);
  }

  /** Moves the clock: `advance({ minutes: 31 })`, `advance("31m")`; tokens issued earlier age by as much. */
  advance(by) {
    return this.#control.clockSet({ advance: duration(by) });
  }

  /** Sets the clock, which goes on from there: a Date, Unix seconds, or an RFC 3339 text. */
  set(now) {
    return this.#control.clockSet({ now: moment(now) });
  }

  /** Stops the clock, there or where it stands. */
  freeze(at) {
    return this.#control.clockSet({ now: at === undefined ? undefined : moment(at), freeze: true });
  }

  /** Lets a frozen clock go on from where it stands. */
  resume() {
    return this.#control.clockSet({ freeze: false });
  }

  /** Returns to the machine's time. */
  useMachineTime() {
    return this.#control.clockClear();
  }
}

/** The calls of a sandbox, oldest first; control calls are not among them. */
export class Journal {
  #control;
  #sandbox;

  constructor(control, sandbox) {
    this.#control = control;
    this.#sandbox = sandbox;
  }

  /** The entries that a filter admits: `route` may be a pattern such as `addressbook.*`, `status` 401 or `4xx`. */
  async entries(filter = {}) {
    const { since } = filter;
    const query = { ...filter, since: since === undefined ? undefined : moment(since), format: "json" };
    return (await this.#control.journalList(query)).entries;
  }

  /** Waits until there are so many such entries, for a minute at most; returns those that are there then. */
  waitFor({ count = 1, within, ...filter }) {
    return this.entries({ ...filter, count, wait: duration(within) });
  }

  /** The newest such entry; an error when there is none. */
  async last(filter = {}) {
    const [entry] = await this.entries({ ...filter, last: 1 });
    if (entry) return entry;
    throw new UnderstudyError(`the journal of sandbox ${this.#sandbox} has no such entry:\n${await this.describe()}`);
  }

  entry(id) {
    return this.#control.journalGet(id);
  }

  refusals() {
    return this.entries({ refused: true });
  }

  clear() {
    return this.#control.journalClear();
  }

  /** An HTTP Archive for browsers' tools, Charles and Proxyman. */
  har() {
    return this.#control.journalList({ format: "har" });
  }

  /** Contract cases that `understudy contract run` can run. */
  hurl() {
    return this.#control.journalList({ format: "hurl" });
  }

  /** The newest calls in words, each refusal with the rules that it broke and the reason. */
  async describe(last = 20) {
    const entries = await this.entries({ last });
    if (entries.length === 0) return `Sandbox ${this.#sandbox} was not called.`;
    return [`Sandbox ${this.#sandbox}, newest last:`, ...entries.map(describe)].join("\n");
  }
}

/** An entry of a journal in words: the call, its status, the rules that it broke, and the reason. */
export function describe(entry) {
  const { id, vendor, route, status, failure, reason, findings, request, nearest_routes: nearest, intervention } = entry;
  const lines = [
    `#${id} ${request.method} ${request.target} (${[vendor, route].filter(Boolean).join(", ") || "no vendor"})`,
    `   answered ${status}${failure === null ? "" : `: ${failure}`}`,
  ];
  const failed = findings.filter(({ outcome }) => outcome === "failed").map(({ check }) => check);
  if (failed.length > 0) lines.push(`   failed ${failed.length === 1 ? "rule" : "rules"}: ${failed.join(", ")}`);
  if (reason !== null) lines.push(`   reason: ${reason}`);
  if (nearest?.length > 0) lines.push(`   nearest routes: ${nearest.join("; ")}`);
  if (intervention !== undefined) {
    const steps = [intervention].flat().map((step) => (typeof step === "string" ? step : JSON.stringify(step)));
    lines.push(`   intervention: ${steps.join("; ")}`);
  }
  return lines.join("\n");
}

/** What was expected and found, then the nearest calls and what each missed. */
function complaint({ message, nearest }) {
  const lines = nearest.flatMap(({ id, summary, missed }) => [
    `  #${id} ${summary}`,
    ...missed.map(({ condition, expected, found }) => `      ${condition}: expected ${expected}, found ${found ?? "nothing"}`),
  ]);
  return [message, ...lines].join("\n");
}

const units = { days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1000, milliseconds: 1 };

/** A duration in the spelling of control calls: such a text as it is, or the sum of the named parts. */
function duration(value) {
  if (typeof value === "string") return value;
  let milliseconds = 0;
  for (const [unit, count] of Object.entries(value ?? {})) {
    if (!Object.hasOwn(units, unit) || !Number.isFinite(count)) {
      throw new TypeError(`${unit}: ${count} is not a part of a duration; the parts are numbers of ${Object.keys(units).join(", ")}`);
    }
    milliseconds += count * units[unit];
  }
  if (value === null || typeof value !== "object") {
    throw new TypeError(`${value} is not a duration, such as "31m" or { minutes: 31 }`);
  }
  // Away from zero: what has passed has passed completely. A part of a billionth is the arithmetic's.
  return `${Math.sign(milliseconds) * Math.ceil(Math.abs(milliseconds) - 1e-6)}ms`;
}

function moment(value) {
  return value instanceof Date ? value.toISOString() : value;
}

function pair(text, form) {
  const [, first, second] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  if (second === undefined) throw new TypeError(`“${text}” is not ${form}`);
  return [first, second];
}

/** Twelve digits that nobody else has drawn; they are no secret. */
function random() {
  return Math.floor(Math.random() * 2 ** 48).toString(16).padStart(12, "0");
}

// Control calls

/** A part of a path. */
function part(value) {
  return encodeURIComponent(value);
}

/** The URL without a final slash. */
function base(url) {
  const { protocol, pathname, search, origin } = new URL(url);
  if (!/^https?:$/.test(protocol) || pathname !== "/" || search !== "") {
    throw new TypeError(`${url} is not a base URL of a server, such as http://127.0.0.1:8080; sandboxes are named later`);
  }
  return origin;
}

/** Makes a control call; returns its content, or throws a `Refusal` when the status is none of the expected. */
async function send(url, token, sandbox, method, path, { query = {}, body, expected }) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const target = given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
  const headers = {};
  if (sandbox !== undefined) headers["X-Understudy-Sandbox"] = sandbox;
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer, text;
  try {
    const content = body === undefined ? undefined : JSON.stringify(body);
    answer = await fetch(`${url}/_understudy/${target}`, { method, headers, body: content, redirect: "manual" });
    text = await answer.text();
  } catch (cause) {
    // A browser tells a page nothing about an answer that it may not read.
    const hint = globalThis.location !== undefined && globalThis.location.origin !== url
      ? `; of web pages, only those of its own origin reach it, and this one is of ${globalThis.location.origin}` : "";
    throw new Unreachable(`no answer from Understudy at ${url}: ${cause.cause?.message || cause.message}${hint}`, { cause });
  }
  if (!expected.includes(answer.status)) throw refusal(`${method} ${target}`, url, answer, text);
  if (text === "") return undefined;
  return answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

function refusal(call, url, { status, type, headers }, text) {
  const strange = (what) => new Unreachable(`${call} at ${url} answered ${status}, and not as Understudy does: ${what}`);
  // Its target would get the token. A browser tells neither the status nor the target.
  const target = type === "opaqueredirect" ? "a place that the browser does not tell"
    : status >= 300 && status < 400 ? headers.get("location") : null;
  if (target !== null) return strange(`a redirect to ${target}, which is not followed`);
  try {
    const { code, message } = JSON.parse(text).error;
    return new Refusal(call, status, code, message);
  } catch {
    return strange(text.slice(0, 200));
  }
}

// A server as a child of this process, in Node

async function startProcess({ options, binary, environment, timeout }) {
  if (globalThis.process?.versions?.node === undefined) {
    throw new StartFailed("only Node starts a server; elsewhere attach to one that runs");
  }
  const [{ spawn }, fs, os, { join }] = await Promise.all([
    import("node:child_process"), import("node:fs"), import("node:os"), import("node:path")]);
  const folder = fs.mkdtempSync(join(os.tmpdir(), "understudy-"));
  const [portFile, logFile] = [join(folder, "ports"), join(folder, "log")];
  const { UNDERSTUDY_BINARY, UNDERSTUDY_URL, ...inherited } = process.env;
  const program = binary ?? (UNDERSTUDY_BINARY || "understudy");
  const log = fs.openSync(logFile, "w");
  const child = spawn(
    program, ["serve", "--host", "127.0.0.1", "--port", "0", "--log", "off", ...options, "--port-file", portFile, "--until-stdin-closes"],
    // The server complains of variables that it does not know, and those two are ours.
    { stdio: ["pipe", log, log], env: { ...inherited, ...environment } });
  fs.closeSync(log);
  // A test file ends when its tests do, even if nobody stops the server; its end closes the pipe, which ends the server.
  child.unref();
  child.stdin?.unref();
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve({ error }));
    child.once("exit", (code) => resolve({ code }));
  });
  const last = Date.now() + timeout;
  let end, lines;
  ended.then((result) => { end = result; });
  try {
    while (!fs.existsSync(portFile)) {
      const complaint = end?.error ? `${program} cannot be started: ${end.error.message}; name the program in UNDERSTUDY_BINARY, `
        + "or attach to a running server"
        : end ? `understudy ended with code ${end.code}:\n${fs.readFileSync(logFile, "utf8")}`
          : Date.now() > last ? `understudy did not start in time:\n${fs.readFileSync(logFile, "utf8")}` : undefined;
      if (complaint !== undefined) {
        child.kill("SIGKILL");
        throw new StartFailed(complaint);
      }
      await new Promise((resolve) => { setTimeout(resolve, 10); });
    }
    lines = fs.readFileSync(portFile, "utf8").trim().split("\n");
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return {
    ports: Object.fromEntries(lines.map((line) => line.split(" ")).map(([name, port]) => [name, Number(port)])),
    /** Ends it as a supervisor would, and returns its exit code. */
    async stop() {
      child.ref();
      child.kill();
      const patience = setTimeout(() => child.kill("SIGKILL"), 15_000);
      const { code } = await ended;
      clearTimeout(patience);
      return code;
    },
  };
}
