// The module in Node: server, sandbox, clock and journal as a test suite uses them.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import * as module from "../../../Sources/Clients/JavaScript/understudy.js";

const { Refusal, StartFailed, Understudy, UnderstudyError, UnmetExpectation, Unreachable } = module;
const source = fileURLToPath(new URL("../../../Sources/Clients/JavaScript/", import.meta.url));
const NOW = 1_800_000_000;
const BOOK = "/api/v1/partner/317/customer/entity123/addressbook";

let server;
const folder = mkdtempSync(join(tmpdir(), "understudy-js-"));
before(async () => { server = await Understudy.start(); });
after(async () => {
  rmSync(folder, { recursive: true });
  assert.equal(await server.stop(), 0);
});

/** A test with a sandbox of its own. */
function testIn(name, body) {
  test(name, () => server.withSandbox(body, { name }));
}

/** Calls a vendor as an app would, and returns the status. */
async function call(sandbox, token, path = BOOK, base = sandbox.baseURL, headers = {}) {
  const fields = {
    "x-rezolve-partner-apikey": "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6",
    "x-rezolve-device-id": "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a", authorization: `Bearer ${token}`, ...headers };
  const answer = await fetch(base + path, { headers: fields });
  await answer.text();
  return answer.status;
}

// The control API

testIn("what has no name here is a call of the control API", async (sandbox) => {
  const { issuer, keys } = await sandbox.control("POST", "keys/ims/rotating/same-kid");
  assert.ok(issuer === "rotating" && keys.length > 0);
  assert.equal(await sandbox.control("POST", "reset"), undefined);
  await call(sandbox, "a.b.c");
  assert.match(await sandbox.control("GET", "journal?format=hurl"), /^POST \{\{base/m);
  assert.equal((await sandbox.control("POST", "journal/verify?wait=1ms", { exactly: 3 })).verified, false);
  assert.ok((await server.control("GET", "clock")).machine_time);
});

testIn("what a name holds stays in its place of the path", async (sandbox) => {
  await assert.rejects(sandbox.state("a/b c?d%é"), { status: 404, call: "GET state/a%2Fb%20c%3Fd%25%C3%A9" });
  await assert.rejects(sandbox.mint("rezolve/lo?gin/"), { status: 404, call: "POST tokens/rezolve/lo%3Fgin%2F" });
});

testIn("a query that the server does not know is refused, not forgotten", async (sandbox) => {
  await assert.rejects(sandbox.journal.entries({ rout: "rua.ping" }), (error) => error instanceof Refusal && /rout/.test(error.message));
});

// Starting and attaching

test("a server starts and ends", async () => {
  const own = await Understudy.start({ options: ["--seed", "7", "--control-token", "steer", "--control-port", "0"] });
  assert.ok(own.isOwn && own.url.endsWith(`:${own.ports.http}`));
  assert.equal(JSON.parse(readFileSync(join(source, "package.json"), "utf8")).version, (await own.health()).version);
  assert.equal(own.pageURL, `http://127.0.0.1:${own.ports.control}/_understudy/`);
  assert.equal((await own.sandbox("seeded").clock.now()).toISOString(), "2027-01-15T08:00:00.000Z");
  const controlURL = own.pageURL.replace("/_understudy/", "");
  const other = await Understudy.attach(own.url, { controlURL });
  assert.ok(!other.isOwn);
  await assert.rejects(other.sandboxes(), { name: "Refusal", status: 401, call: "GET sandboxes" });
  assert.ok((await (await Understudy.attach(own.url, { controlURL, token: "steer" })).sandboxes()).length > 0);
  process.env.UNDERSTUDY_CONTROL_TOKEN = "steer";
  try {
    assert.ok((await (await Understudy.attach(own.url, { controlURL })).sandboxes()).length > 0);
  } finally {
    delete process.env.UNDERSTUDY_CONTROL_TOKEN;
  }
  assert.equal(await other.stop(), undefined);
  assert.equal(await own.stop(), 0);
  await assert.rejects(own.health(), (error) => error instanceof Unreachable && /no answer from Understudy at http/.test(error.message));
});

for (const [how, order] of Object.entries({
  "an option": { options: ["--control-token=steer"] }, "a variable": { environment: { UNDERSTUDY_CONTROL_TOKEN: "steer" } },
  "a file": { options: ["--control-token", `@${join(folder, "token")}`] },
})) {
  test(`the token of a started server is known from ${how}`, async () => {
    writeFileSync(join(folder, "token"), "steer\n");
    const own = await Understudy.start(order);
    assert.ok(await own.sandboxes());
    await assert.rejects((await Understudy.attach(own.url)).sandboxes(), { status: 401 });
    await own.stop();
  });
}

test("a start that fails says why", async () => {
  await assert.rejects(Understudy.start({ binary: join(folder, "nowhere") }), (error) => error instanceof StartFailed && /ENOENT.*UNDERSTUDY_BINARY/.test(error.message));
  await assert.rejects(Understudy.start({ options: ["--seed", "soon"] }), { name: "StartFailed", message: /ended with code 2:\n.*--seed soon/ });
  const silent = join(folder, "silent");
  writeFileSync(silent, "#!/bin/sh\nexec sleep 60\n");
  chmodSync(silent, 0o755);
  await assert.rejects(Understudy.start({ binary: silent, timeout: 200 }), { message: /did not start in time/ });
});

test("the installed program goes after what is named and before PATH", () => {
  const project = mkdtempSync(join(folder, "project-"));
  const [own, other] = [join(project, "node_modules/understudy-server"), join(project, "elsewhere")];
  mkdirSync(join(own, "bin"), { recursive: true });
  mkdirSync(other);
  writeFileSync(join(own, "package.json"), JSON.stringify({ name: "understudy-server", version: "0.2.0" }));
  symlinkSync(process.env.UNDERSTUDY_BINARY, join(own, "bin/understudy"));
  writeFileSync(join(other, "understudy"), "#!/bin/sh\necho this is the one in PATH >&2\nexit 3\n");
  chmodSync(join(other, "understudy"), 0o755);
  const { UNDERSTUDY_BINARY, ...inherited } = { ...process.env, PATH: `${other}:${process.env.PATH}` };
  const start = (cwd, variables = {}) => spawnSync(process.execPath, ["--input-type=module", "-e", `
    import { Understudy } from ${JSON.stringify(join(source, "understudy.js"))};
    process.exitCode = await Understudy.start().then((server) => server.stop(), (error) => { console.error(error.message); return 9; });`],
  { cwd, encoding: "utf8", timeout: 60_000, env: { ...inherited, ...variables } });
  const below = join(project, "tests");
  mkdirSync(below);
  for (const place of [project, below]) {
    const { status, stderr } = start(place);
    assert.equal(status, 0, stderr);
  }
  assert.match(start(project, { UNDERSTUDY_BINARY: "/nowhere" }).stderr, /^\/nowhere cannot be started: .*install the package understudy-server, /);
  assert.match(start(folder).stderr, /ended with code 3:\nthis is the one in PATH/);
});

/** Has a process of its own start a server, whose end shows as the end of what `server` waits for. */
function startedElsewhere(code) {
  const alive = join(mkdtempSync(join(folder, "elsewhere-")), "alive");
  execFileSync("mkfifo", [alive]);
  const observed = fileURLToPath(new URL("../observed", import.meta.url));
  const ended = new Promise((resolve) => { execFile("cat", [alive], { timeout: 40_000 }, (error, id) => resolve({ error, id })); });
  const said = spawnSync(process.execPath, ["--input-type=module", "-e", `
    import { Understudy } from ${JSON.stringify(join(source, "understudy.js"))};
    const server = await Understudy.start({ binary: ${JSON.stringify(observed)} });
    ${code}`], { encoding: "utf8", timeout: 60_000, env: { ...process.env, ALIVE: alive, PROGRAM: process.env.UNDERSTUDY_BINARY } });
  return { said, ended };
}

async function assertEnded(server) {
  const { error, id } = await server;
  if (error) process.kill(Number(id), "SIGKILL");
  assert.equal(error, null, "the server goes on");
}

test("a server that nobody stops ends with the process, which it does not keep", async () => {
  const { said, ended } = startedElsewhere("console.log(server.url);");
  assert.equal(said.status, 0, said.stderr);
  assert.match(said.stdout, /^http:/);
  await assertEnded(ended);
});

for (const signal of ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"]) {
  test(`a server ends with the process that started it, which ${signal} ends`, async () => {
    const { said, ended } = startedElsewhere(`process.kill(process.pid, "${signal}");\nsetTimeout(() => {}, 60_000);`);
    assert.equal(said.signal, signal, said.stderr);
    await assertEnded(ended);
  });
}

test("a redirect is not followed", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    const asked = [];
    const [other, target] = await Promise.all([0, 1].map((place) => new Promise((resolve) => {
      const made = createServer((request, answer) => {
        asked.push([place, request.headers.authorization]);
        answer.writeHead(status, { Location: `http://127.0.0.1:${target.address().port}/elsewhere` }).end();
      }).listen(0, "127.0.0.1", () => resolve(made));
    })));
    const [url, elsewhere] = [other, target].map((each) => `http://127.0.0.1:${each.address().port}`);
    const attached = Understudy.attach(url, { token: "steer" }).finally(() => [other, target].forEach((each) => each.close()));
    await assert.rejects(attached, {
      name: "Unreachable",
      message: `GET health at ${url} answered ${status}, and not as Understudy does: a redirect to ${elsewhere}/elsewhere, which is not followed` });
    assert.deepEqual(asked, [[0, "Bearer steer"]]);
  }
});

test("where somebody else answers it says so, and what is no base URL is not asked", async () => {
  const other = createServer((_, answer) => { answer.writeHead(502).end("bad gateway"); });
  await new Promise((resolve) => { other.listen(0, "127.0.0.1", resolve); });
  await assert.rejects(Understudy.attach(`http://127.0.0.1:${other.address().port}`), {
    name: "Unreachable", message: /GET health at .* answered 502, and not as Understudy does: bad gateway/ });
  other.close();
  for (const url of ["127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://127.0.0.1:1/~name"]) {
    await assert.rejects(Understudy.attach(url), TypeError);
  }
});

test("the version is the server's", async () => {
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  assert.equal((await server.health()).version, version);
});

// Sandboxes

test("a sandbox is gone after its test, and a failed test tells its journal", async () => {
  const told = [];
  let name;
  const failure = new Error("as a test fails");
  await assert.rejects(server.withSandbox(async (sandbox) => {
    name = sandbox.name;
    await call(sandbox, "a.b.c");
    throw failure;
  }, { name: "The app's 1st test", report: (text) => told.push(text) }), failure);
  assert.match(name, /^the-app-s-1st-test-[0-9a-f]{8}$/);
  assert.equal(told.length, 1);
  const lines = told[0].split("\n");
  assert.deepEqual(lines.slice(0, 3), [
    `Sandbox ${name}, newest last:`, `#1 GET ${BOOK} (rezolve, addressbook.list)`, "   answered 403: masked-signature"]);
  assert.match(lines[3], /^ {3}failed rules: header-base64url, /);
  assert.match(lines[4], /^ {3}reason: header-base64url: found /);
  assert.ok(!(await server.sandboxes()).some((each) => each.name === name));
  assert.equal(await server.withSandbox(() => 7, { report: () => assert.fail("told of a test that passed") }), 7);
});

test("names are new or refused", () => {
  assert.notEqual(server.sandbox().name, server.sandbox().name);
  assert.ok(server.sandboxFor("x".repeat(99)).name.length === 63 && server.sandboxFor("?").name.startsWith("test-"));
  for (const name of ["", "A", "a_b", "x".repeat(64), "a/b", "a\n"]) assert.throws(() => server.sandbox(name), TypeError);
});

testIn("sandboxes are worlds of their own", async (one) => {
  const other = server.sandbox();
  await one.clock.freeze(NOW);
  assert.equal(await call(one, "a.b.c"), 403);
  assert.ok((await other.clock.read()).machine_time);
  assert.deepEqual(await other.journal.entries(), []);
  assert.equal(await call(one, "a.b.c", BOOK, server.url, one.headers), 403);
  assert.equal((await one.journal.entries()).length, 2);
  await other.delete();
  await other.delete();
});

testIn("a refusal has the server's words", async (sandbox) => {
  await assert.rejects(sandbox.clock.set("soon"), (error) => {
    assert.ok(error instanceof Refusal && error instanceof UnderstudyError);
    assert.deepEqual([error.name, error.status, error.code, error.call], ["Refusal", 400, "invalid", "PUT clock"]);
    return /soon.*RFC 3339/s.test(error.message);
  });
  await assert.rejects(sandbox.state("nobody"), { status: 404 });
  for (const half of ["login", "/login", "rezolve/", ""]) {
    await assert.rejects(sandbox.mint(half), TypeError);
    await assert.rejects(sandbox.act(half), TypeError);
  }
});

// Time

testIn("a clock is frozen, moved and released", async ({ clock }) => {
  assert.ok((await clock.read()).machine_time && Math.abs(await clock.now() - Date.now()) < 60_000);
  const shown = await clock.freeze(NOW);
  assert.deepEqual([shown.unix, shown.frozen, shown.machine_time], [NOW, true, false]);
  assert.equal((await clock.advance({ minutes: 31 })).unix, NOW + 31 * 60);
  assert.equal((await clock.advance("-31m")).unix, NOW);
  assert.equal((await clock.advance({ days: 1, hours: -1 })).unix, NOW + 23 * 3600);
  assert.equal((await clock.set("2027-01-15T08:00:00Z")).unix, NOW);
  assert.equal((await clock.set(new Date(NOW * 1000 + 5000))).unix, NOW + 5);
  assert.equal((await clock.now()).getTime(), NOW * 1000 + 5000);
  assert.equal((await clock.resume()).frozen, false);
  assert.equal((await clock.freeze()).frozen, true);
  assert.ok((await clock.useMachineTime()).machine_time);
});

test("durations are sums of their parts, or refused", async () => {
  const sent = [];
  const clock = new module.Clock((method, path, { advance }) => sent.push(advance));
  for (const each of [{ seconds: 0.29 }, { seconds: 1.1 }, { milliseconds: 0.1 }, { milliseconds: -0.1 }, {}, { hours: 2, minutes: 1 }]) clock.advance(each);
  assert.deepEqual(sent, ["290ms", "1100ms", "1ms", "-1ms", "0ms", "7260000ms"]);
  for (const each of [{ minute: 1 }, { minutes: "1" }, { minutes: NaN }, 31, undefined, null]) assert.throws(() => clock.advance(each), TypeError);
});

// Tokens, behaviour, state

testIn("tokens are minted, explained and refused", async (sandbox) => {
  const token = await sandbox.mint("rezolve/login", { expires_in: 900 });
  assert.equal(await call(sandbox, token), 200);
  const [verdict] = await sandbox.explain(token, { vendor: "rezolve", request: { device_id: "other" } });
  assert.deepEqual([verdict.kind, verdict.accepted], ["login", false]);
  assert.ok((await sandbox.explain(await sandbox.mint("rezolve/login", { defect: "expired" }))).length > 1);
  await sandbox.clock.advance({ minutes: 16 });
  assert.equal(await call(sandbox, token), 401);
  const { failure, reason } = await sandbox.journal.last();
  assert.equal(failure, "token-expired");
  assert.match(reason, /^expiry: /);
});

testIn("switches, profiles and seeds are set", async (sandbox) => {
  await sandbox.setSwitch("rezolve.device-check", "off");
  await sandbox.setProfile("observed", "ims");
  await sandbox.setSeed(7);
  const settings = await sandbox.control("GET", "settings");
  assert.equal(settings.switches["rezolve.device-check"], "off");
  assert.deepEqual([settings.profile, settings.vendor_profiles, settings.seed], ["documented", { ims: "observed" }, 7]);
  await sandbox.setSwitch("rezolve.device-check", null);
  assert.equal((await sandbox.control("GET", "settings")).switches["rezolve.device-check"], "enforce");
  await sandbox.setProfile("observed");
  await sandbox.setSeed(null);
  const { profile, seed } = await sandbox.control("GET", "settings");
  assert.deepEqual([profile, seed], ["observed", null]);
});

testIn("scenarios and faults strike until they end", async (sandbox) => {
  const token = await sandbox.mint("rezolve/login");
  await sandbox.activate("rezolve-logged-out-elsewhere");
  assert.equal(await call(sandbox, token), 401);
  await sandbox.activate();
  await sandbox.arm({ route: "addressbook.list", call: 2, fail: "service-unavailable" });
  assert.deepEqual([await call(sandbox, token), await call(sandbox, token), await call(sandbox, token)], [200, 503, 200]);
  assert.match(await sandbox.journal.describe(2), /\n {3}intervention: /);
  await sandbox.arm({ route: "addressbook.list", times: "always", respond: { status: 418 } });
  await sandbox.arm();
  assert.equal(await call(sandbox, token), 200);
});

testIn("what happens behind the app's back is in the state", async (sandbox) => {
  const before = await sandbox.state("rezolve");
  await sandbox.act("rezolve/remove-customer", { entity: "entity123" });
  assert.notDeepEqual(await sandbox.state("rezolve"), before);
  assert.deepEqual(await sandbox.setState("rezolve", before), before);
  await sandbox.act("rezolve/remove-customer", { entity: "entity123" });
  await sandbox.reset();
  assert.equal(await call(sandbox, await sandbox.mint("rezolve/login")), 200);
});

// The journal

testIn("the journal is filtered, told and cleared", async (sandbox) => {
  const { journal } = sandbox;
  assert.equal(await journal.describe(), `Sandbox ${sandbox.name} was not called.`);
  await call(sandbox, await sandbox.mint("rezolve/login"));
  await call(sandbox, "a.b.c");
  await call(sandbox, "a.b.c", "/v2/credential/ping");
  const statuses = async (filter) => (await journal.entries(filter)).map(({ status }) => status);
  assert.deepEqual(await statuses(), [200, 403, 404]);
  assert.deepEqual(await statuses({ status: "4xx" }), [403, 404]);
  assert.deepEqual(await statuses({ status: 200, route: "addressbook.*", vendor: "rezolve" }), [200]);
  assert.deepEqual(await statuses({ unmatched: true }), [404]);
  assert.deepEqual(await statuses({ since: new Date(Date.now() + 3_600_000) }), []);
  assert.deepEqual((await journal.refusals()).map(({ id }) => id), [2]);
  assert.equal((await journal.last({ vendor: "rezolve" })).id, 2);
  assert.equal((await journal.entry(3)).request.target, "/v2/credential/ping");
  assert.match(module.describe(await journal.entry(3)), /^#3 GET \/v2\/credential\/ping \(no vendor\)\n {3}answered 404\n {3}reason: .*\n {3}nearest routes: /);
  await journal.clear();
  await assert.rejects(journal.last(), { message: /was not called/ });
});

testIn("the journal and expectations wait", async (sandbox) => {
  setTimeout(() => call(sandbox, "a.b.c"), 100);
  assert.deepEqual((await sandbox.journal.waitFor({ within: { seconds: 30 }, route: "addressbook.list" })).map(({ status }) => status), [403]);
  setTimeout(() => call(sandbox, "a.b.c"), 100);
  assert.deepEqual(await sandbox.expectCalls({ route: "addressbook.list" }, { exactly: 2, within: "30s" }), [1, 2]);
  assert.equal((await sandbox.journal.waitFor({ count: 9, within: "1ms" })).length, 2);
});

testIn("a sequence is met or says which step is missing", async (sandbox) => {
  await call(sandbox, await sandbox.mint("rezolve/login"));
  await call(sandbox, "a.b.c");
  const step = { route: "addressbook.list" };
  assert.deepEqual(await sandbox.expectSequence([{ ...step, status: 200 }, { ...step, token: "other", within: "1m" }]), [1, 2]);
  await assert.rejects(sandbox.expectSequence([{ failure: "masked-signature" }, { route: "rua.ping" }]), (error) => {
    assert.ok(error instanceof UnmetExpectation);
    assert.match(error.message, /^no exchange after entry 2 is step 2 of 2 \(route rua\.ping\)/);
    return true;
  });
  await assert.rejects(sandbox.expectSequence([{ status: 200 }], { noneAfter: { failure: "masked-signature" } }), /entry 2/);
});

testIn("expectations are met or say what came closest", async (sandbox) => {
  assert.deepEqual(await sandbox.expectCalls({}, { exactly: 0 }), []);
  await call(sandbox, "a.b.c");
  assert.deepEqual(await sandbox.expectCalls(), [1]);
  assert.deepEqual(await sandbox.expectCalls({ failure: "masked-signature" }, { atLeast: 1, atMost: 1 }), [1]);
  await assert.rejects(sandbox.expectCalls({ route: "addressbook.list", status: 401 }, { exactly: 1 }), (error) => {
    const lines = error.message.split("\n");
    assert.ok(error instanceof UnmetExpectation);
    assert.match(lines[0], /^expected exactly 1 exchange, found 0; /);
    assert.match(lines[1], /^ {2}#1 rezolve addressbook\.list: GET /);
    assert.equal(lines[2], "      status: expected 401, found 403");
    return true;
  });
  await assert.rejects(sandbox.expectCalls({ colour: "red" }), { status: 400 });
});

// Types and examples

test("the types declare all that is exported, and nothing else", () => {
  const declared = readFileSync(join(source, "understudy.d.ts"), "utf8");
  const classes = new Map([...declared.matchAll(/^export class (\w+)[^{]*\{(.*?)\}$/gms)].map(([, name, body]) => [
    name, new Set([...body.matchAll(/^ {2}(?:static |readonly |get )*(\w+)[<(?:]/gm)].map(([, member]) => member))]));
  const functions = [...declared.matchAll(/^export function (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual([...classes.keys(), ...functions].sort(), Object.keys(module).sort());
  const examples = { Understudy: server, Sandbox: server.sandbox("typed"), Refusal: new Refusal("", 400, "", "") };
  for (const [name, members] of classes) {
    const kind = module[name];
    // What an error has, TypeScript knows.
    const own = Object.getOwnPropertyNames(examples[name] ?? {}).filter((each) => !(each in new Error("") && kind.prototype instanceof Error));
    const statics = Object.getOwnPropertyNames(kind).filter((each) => !["length", "name", "prototype"].includes(each));
    const offered = new Set([...Object.getOwnPropertyNames(kind.prototype), ...statics, ...own].filter((each) => each !== "constructor"));
    members.delete("constructor");
    assert.deepEqual([...offered].sort(), [...members].sort(), name);
  }
});

test("a TypeScript compiler takes right uses and refuses wrong ones", () => {
  const file = join(folder, "mine.mts");
  // It reports an expected error that does not occur.
  const wrong = [
    'await sandbox.setProfile("strict");', "await sandbox.clock.advance({ minute: 31 });", "await server.control();",
    'await sandbox.journal.entries({ rout: "x" });', "await sandbox.expectCalls({}, { exact: 1 });", "new Understudy();",
    "(await sandbox.journal.last()).reason.length;",
  ].map((line) => `    // @ts-expect-error\n    ${line}\n`).join("");
  writeFileSync(file, `import { Understudy, Refusal, describe, type JournalEntry, type Sandbox } from ${JSON.stringify(join(source, "understudy.js"))};
    export async function use(server: Understudy, sandbox: Sandbox) {
    const own: Understudy = await Understudy.start({ options: ["--seed", "7"] });
    const token: string = await sandbox.mint("rezolve/login", { expires_in: 900, defect: "expired" });
    const entry: JournalEntry = await sandbox.journal.last({ route: "addressbook.*" });
    const reason: string | null = entry.reason;
    const unix: number = (await sandbox.clock.advance({ minutes: 31 })).unix;
    await sandbox.arm({ route: "addressbook.list", call: 3, fault: { delay: { from: "0s", to: "1s" }, reset: true } });
    const vendors: string[] = (await server.control("GET", "vendors")).vendors.map((vendor: { id: string }) => vendor.id);
    const numbers: number[] = await sandbox.expectCalls({ route: "rua.ping", body: { a: { over: 1 } } }, { exactly: 1, within: "1s" });
    const seven: number = await server.withSandbox(async (inner) => inner.name.length, { name: "x" });
    try { await sandbox.control("POST", "keys/ims/rotating/replace"); } catch (error) { if (error instanceof Refusal) return error.code; }
${wrong}    return [own, token, describe(entry), reason, unix, vendors, numbers, seven];
  }`);
  const made = spawnSync("tsc", ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", file], { encoding: "utf8" });
  assert.equal(made.error, undefined);
  assert.equal(made.stdout, "");
  assert.equal(made.status, 0);
});

test("the README's first test passes", () => {
  const [, block] = /<!-- first test -->\n```js\n(.*?)```/s.exec(readFileSync(join(source, "README.md"), "utf8"));
  // Installed as by npm, so that it is found by its name.
  const project = mkdtempSync(join(folder, "project-"));
  execFileSync("mkdir", ["-p", join(project, "node_modules")]);
  execFileSync("cp", ["-R", source, join(project, "node_modules", "understudy")]);
  const file = join(project, "first.test.mjs");
  writeFileSync(file, block);
  // A run inside a run would report to the outer one.
  const { NODE_TEST_CONTEXT, ...environment } = process.env;
  const said = spawnSync(process.execPath, ["--test", file], { encoding: "utf8", env: environment, timeout: 60_000 });
  assert.equal(said.status, 0, said.stdout + said.stderr);
  assert.match(said.stdout, /pass 1\b/);
});
