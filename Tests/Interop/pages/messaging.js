// What a web app does with Comapi, from another origin than the server's. It judges nothing: it posts what it saw to
// its own origin, where a test looks at it.

const query = new URLSearchParams(location.search);
const base = query.get("base");
const space = query.get("space");
const patience = 60_000;

// The headers that the vendor's SDK for JavaScript sends with every call.
const sdkHeaders = {
  "Cache-Control": "no-cache",
  "Content-Type": "application/json",
  "If-Modified-Since": "Sat, 01 Jan 2000 00:00:00 GMT",
  Pragma: "no-cache",
};

/** A call below the space; what script may see of the answer. */
async function call(method, path, { token, body, headers = sdkHeaders, url } = {}) {
  const authorization = token ? { authorization: `Bearer ${token}` } : {};
  const content = body === undefined || body instanceof Blob || body instanceof FormData ? body : JSON.stringify(body);
  const answer = await fetch(url ?? `${base}/apispaces/${space}${path}`, {
    method, body: content, headers: { ...headers, ...authorization },
  });
  const text = await answer.text();
  return {
    status: answer.status, type: answer.type, text, etag: answer.headers.get("ETag"),
    contentType: answer.headers.get("Content-Type"), cacheControl: answer.headers.get("Cache-Control"),
    challenge: answer.headers.get("WWW-Authenticate"),
  };
}

/** The same as the vendor's SDK does it, by XMLHttpRequest: without CORS headers the status would be 0. */
function callByRequest(method, path, token) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, `${base}/apispaces/${space}${path}`);
    for (const [name, value] of Object.entries(sdkHeaders)) request.setRequestHeader(name, value);
    if (token) request.setRequestHeader("authorization", `Bearer ${token}`);
    request.onloadend = () => resolve({ status: request.status, text: request.responseText });
    request.send();
  });
}

const encoder = new TextEncoder();

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The app's answer to a challenge, signed with HS256 by WebCrypto. */
async function sign(nonce, user, secret) {
  const seconds = Math.floor(Date.now() / 1000);
  const claims = {
    sub: user, nonce, iss: query.get("issuer"), aud: query.get("audience"), iat: seconds, exp: seconds + 600,
  };
  const input = [{ alg: "HS256", typ: "JWT" }, claims].map((part) => base64url(encoder.encode(JSON.stringify(part)))).join(".");
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  return `${input}.${base64url(new Uint8Array(await crypto.subtle.sign(algorithm, key, encoder.encode(input))))}`;
}

/** Answers a fresh challenge. */
async function start(user, secret = query.get("secret")) {
  const challenge = JSON.parse((await call("GET", "/sessions/start")).text);
  const authenticationToken = await sign(challenge.nonce, user, secret);
  return call("POST", "/sessions", { body: { authenticationId: challenge.authenticationId, authenticationToken } });
}

/** What the vendor's SDK reads from a token; `atob` throws on `-` and `_`. */
const claimsOf = (token) => JSON.parse(atob(token.split(".")[1]));

/** A socket whose frames are awaited one by one. */
class Listener {
  constructor(token) {
    this.frames = [];
    this.waiting = [];
    this.socket = new WebSocket(`${base.replace("http", "ws")}/apispaces/${space}/socket?token=${token}`);
    this.opened = new Promise((resolve) => {
      this.socket.onopen = () => resolve(true);
      this.socket.onerror = () => resolve(false);
    });
    this.closed = new Promise((resolve) => {
      this.socket.onclose = (event) => resolve({ code: event.code, reason: event.reason, clean: event.wasClean });
    });
    this.socket.onmessage = ({ data }) => {
      const waiting = this.waiting.shift();
      if (waiting) waiting(data); else this.frames.push(data);
    };
  }

  hear() {
    return this.frames.length > 0 ? this.frames.shift() : new Promise((resolve) => this.waiting.push(resolve));
  }

  async names(count) {
    const names = [];
    while (names.length < count) names.push(JSON.parse(await this.hear()).name);
    return names;
  }
}

const seen = {};

const visits = {
  async sessions() {
    seen.mira = await start("mira");
    seen.bob = await start("zoë~?>");
    seen.refused = await start("mira", "another-secret");
    const [mira, bob] = [seen.mira, seen.bob].map((answer) => JSON.parse(answer.text));
    seen.claims = [claimsOf(mira.token), claimsOf(bob.token)];
    return [mira, bob];
  },

  async refusals(mira) {
    seen.errors = {
      withoutToken: await call("GET", "/profiles/mira"),
      byRequest: await callByRequest("GET", "/profiles/mira"),
      brokenToken: await call("GET", "/profiles/mira", { token: "a.b" }),
      malformed: await call("POST", "/conversations", { token: mira.token, body: [] }),
      unknownPath: await call("GET", "/nothing", { token: mira.token }),
      wrongMethod: await call("DELETE", "/profiles/mira", { token: mira.token }),
      unknownSpace: await call("GET", "", { url: `${base}/apispaces/none/sessions/start` }),
      tooLarge: await call("POST", "/conversations", { token: mira.token, body: { id: "x".repeat(300_000) } }),
      unavailable: await call("POST", "/channels/facebook/state", { token: mira.token, body: {} }),
      noHandshake: await call("GET", "/socket", { token: mira.token }),
    };
  },

  async profile(mira) {
    const read = await call("GET", "/profiles/mira", { token: mira.token });
    const headers = { ...sdkHeaders, "If-Match": read.etag };
    const order = { token: mira.token, body: { firstName: "Mira" }, headers };
    const patched = await call("PATCH", "/profiles/mira", order);
    seen.profile = { read, patched, again: await call("PATCH", "/profiles/mira", order) };
    seen.doubled = await call("GET", "", { token: mira.token, url: `${base}//apispaces/${space}/profiles/mira` });
    const sandbox = { ...sdkHeaders, "X-Understudy-Sandbox": query.get("sandbox") };
    const host = new URL(base).origin;
    seen.byHeader = await call(
      "GET", "", { token: mira.token, headers: sandbox, url: `${host}/apispaces/${space}/profiles/mira` });
  },

  async conversation(mira, bob) {
    const listeners = [new Listener(mira.token), new Listener(bob.token)];
    seen.opened = await Promise.all(listeners.map((listener) => listener.opened));
    seen.greetings = await Promise.all(listeners.map(async (listener) => JSON.parse(await listener.hear())));
    const body = { id: "trip 42/ü", participants: [{ id: bob.session.profileId }] };
    const created = await call("POST", "/conversations", { token: mira.token, body });
    const path = `/conversations/${encodeURIComponent(body.id)}`;
    const updated = await call(
      "PUT", path, { token: mira.token, body: { name: "Trip" }, headers: { ...sdkHeaders, "If-Match": created.etag } });
    const message = { parts: [{ name: "body", type: "text/plain", data: "Ahoj 👍", size: 9 }] };
    const sent = await call("POST", `${path}/messages`, { token: mira.token, body: message });
    const updates = [{ messageIds: [JSON.parse(sent.text).id], status: "read" }];
    const marked = await call("POST", `${path}/messages/statusupdates`, { token: bob.token, body: updates });
    const typing = await call("POST", `${path}/typing`, { token: bob.token, body: {} });
    const page = await call("GET", `${path}/messages?limit=10`, { token: bob.token });
    seen.calls = { created, updated, sent, marked, typing, page };
    seen.told = [await listeners[0].names(7), await listeners[1].names(6)];
    const echo = JSON.stringify({ name: "echo", payload: {}, publishedOn: new Date().toISOString() });
    listeners[1].socket.send(echo);
    seen.echo = (await listeners[1].hear()) === echo;
    return listeners;
  },

  async content(mira) {
    const form = new FormData();
    form.append("file", new Blob(["hi"], { type: "text/plain" }), "a.txt");
    const authorization = { headers: {} };
    const raw = { "content-filename": "b.txt", "Content-Type": "text/x-own" };
    const uploads = [
      await call("POST", "/content", { token: mira.token, body: { data: btoa("hi"), name: "j.txt", type: "text/plain" } }),
      await call("POST", "/content", { token: mira.token, body: form, ...authorization }),
      await call("POST", "/content?folder=x", { token: mira.token, body: new Blob(["hi"]), headers: raw }),
    ];
    seen.uploads = uploads;
    // A simple request, for which no browser asks first.
    seen.contents = await Promise.all(uploads.map(({ text }) => call("GET", "", { headers: {}, url: JSON.parse(text).url })));
  },

  async ends(mira, listeners) {
    seen.ended = await call("DELETE", `/sessions/${mira.session.id}`, { token: mira.token });
    seen.closed = await listeners[0].closed;
    listeners[1].socket.close(1000, "enough");
    seen.left = await listeners[1].closed;
    const refused = new Listener(mira.token);
    seen.refusedSocket = { opened: await refused.opened, closed: await refused.closed };
  },
};

async function visitAll() {
  const [mira, bob] = await visits.sessions();
  await visits.refusals(mira);
  await visits.profile(mira);
  const listeners = await visits.conversation(mira, bob);
  await visits.content(mira);
  await visits.ends(mira, listeners);
}

const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`nothing more within ${patience} ms`)), patience));
await Promise.race([visitAll(), late]).catch((error) => { seen.error = `${error}\n${error.stack ?? ""}`; });
await fetch("/seen", { method: "POST", body: JSON.stringify({ origin: location.origin, ...seen }) });
