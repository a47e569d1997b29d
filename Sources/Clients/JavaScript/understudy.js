// Understudy from JavaScript test suites: start a server or attach to one, give each test a sandbox, and control it.
//
// Needs nothing but `fetch`: Node 18 or newer, or a browser. Only Node starts a server. understudy.d.ts, where editors find it,
// says what each member does.

export class UnderstudyError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class StartFailed extends UnderstudyError {}

export class Unreachable extends UnderstudyError {}

export class Refusal extends UnderstudyError {
  constructor(call, status, code, message) {
    super(message);
    this.call = call;
    this.status = status;
    this.code = code;
  }
}

export class UnmetExpectation extends UnderstudyError {}

export class Understudy {
  #process;
  #controlURL;
  #token;

  constructor({ url, controlURL = url, token, process }) {
    this.url = url;
    this.#controlURL = controlURL;
    this.#token = token;
    this.#process = process;
  }

  static async start({ options = [], binary, environment = {}, timeout = 30_000 } = {}) {
    const started = await startProcess({ options, binary, environment, timeout });
    const { http, control = http } = started.ports;
    const given = options.findLastIndex((option) => option.startsWith("--control-token"));
    const token = given < 0
      ? { ...globalThis.process.env, ...environment }.UNDERSTUDY_CONTROL_TOKEN
      : options[given].includes("=") ? options[given].slice(options[given].indexOf("=") + 1) : options[given + 1];
    return new Understudy({
      url: `http://127.0.0.1:${http}`, controlURL: `http://127.0.0.1:${control}`, token: await read(token), process: started });
  }

  static async attach(url, { controlURL, token = globalThis.process?.env?.UNDERSTUDY_CONTROL_TOKEN || undefined } = {}) {
    const server = new Understudy({ url: base(url), controlURL: controlURL && base(controlURL), token: await read(token) });
    await server.health();
    return server;
  }

  sandbox(name = `test-${random()}`) {
    if (!/^[a-z0-9-]{1,63}$/.test(name)) {
      throw new TypeError(`“${name}” is not a sandbox name; it has 1 to 63 of a-z, 0-9 and -`);
    }
    return new Sandbox(name, `${this.url}/~${name}`, this.#calls(name), this.#calls());
  }

  sandboxFor(words) {
    const start = words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-/, "").slice(0, 54).replace(/-$/, "") || "test";
    // Two tests may differ in punctuation only, and may run side by side.
    return this.sandbox(`${start}-${random().slice(0, 8)}`);
  }

  async withSandbox(body, { name, report = (text) => console.error(text) } = {}) {
    const sandbox = name === undefined ? this.sandbox() : this.sandboxFor(name);
    try {
      return await body(sandbox);
    } catch (error) {
      report(await sandbox.journal.describe().catch((problem) => `The journal could not be read: ${problem.message}`));
      throw error;
    } finally {
      // A server that is gone has taken its sandboxes with it; the test's own error says more.
      await sandbox.delete().catch(() => {});
    }
  }

  control(method, path, content) { return this.#calls()(method, path, content); }
  async sandboxes() { return (await this.control("GET", "sandboxes")).sandboxes; }
  health() { return this.control("GET", "health"); }
  get pageURL() { return `${this.#controlURL}/_understudy/`; }
  get ports() { return { ...this.#process?.ports }; }
  get isOwn() { return this.#process !== undefined; }
  async stop() { return this.#process?.stop(); }

  #calls(sandbox) {
    return (method, path, content) => send(this.#controlURL, this.#token, sandbox, method, path, content);
  }
}

export class Sandbox {
  #call;
  #callOthers;

  constructor(name, baseURL, call, callOthers) {
    this.name = name;
    this.baseURL = baseURL;
    this.headers = { "X-Understudy-Sandbox": name };
    this.clock = new Clock(call);
    this.journal = new Journal(call, name);
    this.#call = call;
    // Outside this sandbox: a call that selects it would create it again.
    this.#callOthers = callOthers;
  }

  control(method, path, content) { return this.#call(method, path, content); }

  async mint(kind, order = {}) {
    return (await this.#call("POST", `tokens/${pair(kind, "a vendor and a kind of token, such as rezolve/login")}`, order)).token;
  }

  async explain(token, { vendor, request } = {}) {
    return (await this.#call("POST", "tokens/explain", { token, vendor, request })).verdicts;
  }

  async setProfile(profile, vendor) {
    await this.#call("PUT", "settings", { profile: vendor === undefined ? profile : { [vendor]: profile } });
  }

  async setSwitch(name, value) { await this.#call("PUT", "settings", { switches: { [name]: value } }); }
  async setSeed(seed) { await this.#call("PUT", "settings", { seed }); }
  async activate(...scenarios) { await this.#call("PUT", "scenarios", { scenarios }); }
  async arm(...faults) { await this.#call("PUT", "faults", { faults }); }

  async act(action, members = {}) {
    return this.#call("POST", `state/${pair(action, "a vendor and an action, such as rezolve/remove-customer")}`, members);
  }

  state(vendor) { return this.#call("GET", `state/${encodeURIComponent(vendor)}`); }
  setState(vendor, state) { return this.#call("PUT", `state/${encodeURIComponent(vendor)}`, state); }
  async reset() { await this.#call("POST", "reset"); }

  async delete() {
    try {
      await this.#callOthers("DELETE", `sandboxes/${this.name}`);
    } catch (error) {
      // Nobody has used it.
      if (error.status !== 404) throw error;
    }
  }

  expectCalls(where = {}, { atLeast, atMost, exactly, unread, within } = {}) {
    return this.#verify({ at_least: atLeast, at_most: atMost, exactly, unread, where }, within);
  }

  expectSequence(steps, { noneAfter, within } = {}) {
    return this.#verify({ sequence: steps, none_after: noneAfter }, within);
  }

  async #verify(order, within = "0s") {
    const verdict = await this.#call("POST", `journal/verify${query({ wait: duration(within) })}`, order);
    if (verdict.verified) return verdict.entries;
    throw new UnmetExpectation(complaint(verdict));
  }
}

export class Clock {
  #call;

  constructor(call) {
    this.#call = call;
  }

  read() { return this.#call("GET", "clock"); }
  async now() { return new Date((await this.read()).unix * 1000); }
  advance(by) { return this.#call("PUT", "clock", { advance: duration(by) }); }
  set(now) { return this.#call("PUT", "clock", { now: moment(now) }); }
  freeze(at) { return this.#call("PUT", "clock", { now: moment(at), freeze: true }); }
  resume() { return this.#call("PUT", "clock", { freeze: false }); }
  useMachineTime() { return this.#call("DELETE", "clock"); }
}

export class Journal {
  #call;
  #sandbox;

  constructor(call, sandbox) {
    this.#call = call;
    this.#sandbox = sandbox;
  }

  async entries(filter = {}) {
    return (await this.#call("GET", `journal${query({ ...filter, since: moment(filter.since) })}`)).entries;
  }

  waitFor({ count = 1, within, ...filter }) { return this.entries({ ...filter, count, wait: duration(within) }); }

  async last(filter = {}) {
    const [entry] = await this.entries({ ...filter, last: 1 });
    if (entry) return entry;
    throw new UnderstudyError(`the journal of sandbox ${this.#sandbox} has no such entry:\n${await this.describe()}`);
  }

  entry(id) { return this.#call("GET", `journal/${id}`); }
  refusals() { return this.entries({ refused: true }); }
  async clear() { await this.#call("DELETE", "journal"); }

  async describe(last = 20) {
    const entries = await this.entries({ last });
    if (entries.length === 0) return `Sandbox ${this.#sandbox} was not called.`;
    return [`Sandbox ${this.#sandbox}, newest last:`, ...entries.map(describe)].join("\n");
  }
}

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
  // Away from zero: what has passed has passed completely. A part of a billionth is a rounding error.
  return `${Math.sign(milliseconds) * Math.ceil(Math.abs(milliseconds) - 1e-6)}ms`;
}

function moment(value) {
  return value instanceof Date ? value.toISOString() : value;
}

/** Two names as the parts of a path. */
function pair(text, form) {
  const [, first, second] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  if (second === undefined) throw new TypeError(`“${text}” is not ${form}`);
  return `${encodeURIComponent(first)}/${encodeURIComponent(second)}`;
}

/** Twelve digits that nobody else has drawn; they are no secret. */
function random() {
  return Math.floor(Math.random() * 2 ** 48).toString(16).padStart(12, "0");
}

// Control calls

/** A query with its question mark; what is undefined or null is left out. */
function query(members) {
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return given.length > 0 ? `?${new URLSearchParams(given)}` : "";
}

/** The token, from its file if it is `@FILE`, which only Node can read. */
async function read(token) {
  if (!token?.startsWith("@")) return token || undefined;
  return (await (await import("node:fs/promises")).readFile(token.slice(1), "utf8")).trim();
}

/** The URL without a final slash. */
function base(url) {
  const { protocol, pathname, search, origin } = new URL(url);
  if (!/^https?:$/.test(protocol) || pathname !== "/" || search !== "") {
    throw new TypeError(`${url} is not a base URL of a server, such as http://127.0.0.1:8080; sandboxes are named later`);
  }
  return origin;
}

// These calls report a negative result with a status of their own.
const verdicts = { "journal/verify": 409, "health/ready": 503 };

/** Makes a control call and returns what its answer holds, or throws a `Refusal`. */
async function send(url, token, sandbox, method, path, content) {
  const headers = {};
  if (sandbox !== undefined) headers["X-Understudy-Sandbox"] = sandbox;
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  if (content !== undefined) headers["Content-Type"] = "application/json";
  let answer, text;
  try {
    const body = content === undefined ? undefined : JSON.stringify(content);
    answer = await fetch(`${url}/_understudy/${path}`, { method, headers, body, redirect: "manual" });
    text = await answer.text();
  } catch (cause) {
    // A browser reveals nothing to a page about an answer that it may not read.
    const hint = globalThis.location !== undefined && globalThis.location.origin !== url
      ? `; of web pages, only those of its own origin reach it, and this one is of ${globalThis.location.origin}` : "";
    throw new Unreachable(`no answer from Understudy at ${url}: ${cause.cause?.message || cause.message}${hint}`, { cause });
  }
  if (!answer.ok && verdicts[path.split("?")[0]] !== answer.status) throw refusal(`${method} ${path}`, url, answer, text);
  if (text === "") return undefined;
  return answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

function refusal(call, url, { status, type, headers }, text) {
  const strange = (what) => new Unreachable(`${call} at ${url} answered ${status}, and not as Understudy does: ${what}`);
  // Its target would get the token. A browser reveals neither the status nor the target.
  const target = type === "opaqueredirect" ? "a target that the browser hides"
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

/** The program of the package understudy-server, which is in PATH only where npm runs the tests. */
function installed(createRequire, dirname, join) {
  // A package that was installed from a folder is a link, and lies outside of the project that uses it.
  for (const place of [import.meta.url, join(globalThis.process.cwd(), "any")]) {
    try {
      const found = createRequire(place).resolve("understudy-server/package.json");
      return join(dirname(found), "bin", "understudy");
    } catch {
      // It is not installed there.
    }
  }
  return undefined;
}

async function startProcess({ options, binary, environment, timeout }) {
  if (globalThis.process?.versions?.node === undefined) {
    throw new StartFailed("only Node starts a server; elsewhere attach to a running one");
  }
  const [{ spawn }, fs, os, { dirname, join }, { createRequire }] = await Promise.all([
    import("node:child_process"), import("node:fs"), import("node:os"), import("node:path"), import("node:module")]);
  const folder = fs.mkdtempSync(join(os.tmpdir(), "understudy-"));
  const [portFile, logFile] = [join(folder, "ports"), join(folder, "log")];
  const { UNDERSTUDY_BINARY, UNDERSTUDY_URL, ...inherited } = process.env;
  const program = binary ?? (UNDERSTUDY_BINARY || installed(createRequire, dirname, join) || "understudy");
  const log = fs.openSync(logFile, "w");
  const child = spawn(
    program, ["serve", "--host", "127.0.0.1", "--port", "0", "--log", "off", ...options, "--port-file", portFile, "--until-stdin-closes"],
    // The server warns about variables that it does not know, and those two are the client's.
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
      const complaint = end?.error ? `${program} cannot be started: ${end.error.message}; install the package understudy-server, `
        + "name a program in UNDERSTUDY_BINARY, or attach to a running server"
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
