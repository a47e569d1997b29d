// The tests on the pages that show how to use each vendor; the pages quote them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Understudy } from "../../../Sources/Clients/JavaScript/understudy.js";

const REZOLVE = { "x-rezolve-partner-apikey": "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6", "x-rezolve-device-id": "my-phone" };
const ADDRESSES = "/api/v1/partner/317/customer/entity123/addressbook";
const OPERATOR = { "x-ims-operator-key": "ims-operator-test-key" };
const PUBLIC_KEY = { authorization: "Token pubkey-demo-1" };
const ANA = { registered: "ana@example.test" };
const SPACE = "/apispaces/b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15";

let server;
before(async () => { server = await Understudy.start(); });
after(() => server.stop());

/** Stands for the app under test: a call, of which it sees the status and the content. */
async function ask(sandbox, path, { token, body, headers = {} } = {}) {
  const bearer = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await fetch(sandbox.baseURL + path, {
    method: body ? "POST" : "GET", body: body && JSON.stringify(body),
    headers: { "content-type": "application/json", ...bearer, ...headers } });
  return { status: answer.status, body: JSON.parse(await answer.text() || "null") };
}

test("a Rezolve session is renewed after half an hour", () => server.withSandbox(async (sandbox) => {
  const token = await sandbox.mint("rezolve/login", { device_id: "my-phone" });
  assert.equal((await ask(sandbox, ADDRESSES, { token, headers: REZOLVE })).status, 200);
  await sandbox.clock.advance({ minutes: 31 });
  assert.equal((await ask(sandbox, ADDRESSES, { token, headers: REZOLVE })).status, 401);
  const ping = await ask(sandbox, "/v2/credentials/ping", { token, headers: REZOLVE });
  const renewed = ping.body.accessToken.replace("Bearer ", "");
  assert.equal((await ask(sandbox, ADDRESSES, { token: renewed, headers: REZOLVE })).status, 200);
  await sandbox.expectCalls({ failure: "token-expired" }, { exactly: 1 });
}));

test("IMS knows a user only after activation", () => server.withSandbox(async (sandbox) => {
  const dora = { tenant: "demo", email: "dora@example.test", enterprise_id: "EMP-0005" };
  const { id } = (await ask(sandbox, "/ims/v1/users", { body: dora, headers: OPERATOR })).body;
  const token = await sandbox.mint("ims/user", { sub: "EMP-0005" });
  assert.equal((await ask(sandbox, "/ims/v1/me", { token })).status, 403);
  await ask(sandbox, `/ims/v1/users/${id}/activate`, { body: {}, headers: OPERATOR });
  assert.equal((await ask(sandbox, "/ims/v1/me", { token })).body.state, "active");
  await sandbox.expectCalls({ failure: "user-not-active" }, { exactly: 1 });
}));

test("Bloomreach gets the purchase and refuses an old token", () => server.withSandbox(async (sandbox) => {
  const token = await sandbox.mint("bloomreach/customer-token");
  const purchase = { customer_ids: ANA, event_type: "purchase", properties: { total_price: 12 } };
  await ask(sandbox, "/track/v2/projects/demo-project-1/customers/events", { body: purchase, headers: PUBLIC_KEY });
  await sandbox.act("bloomreach/expect-event", { event_type: "purchase", customer: ANA, exactly: 1 });
  await sandbox.clock.advance({ minutes: 61 });
  const inbox = "/webxp/projects/demo-project-1/appinbox/fetch";
  assert.equal((await ask(sandbox, inbox, { token, body: { customer_ids: ANA } })).status, 401);
  await sandbox.expectCalls({ route: "appinbox.fetch", failure: "customer-token-expired" }, { exactly: 1 });
}));

test("Comapi delivers what the other side writes", () => server.withSandbox(async (sandbox) => {
  const token = await sandbox.mint("comapi/session", { profile: "mira" });
  await ask(sandbox, `${SPACE}/conversations`, { token, body: { id: "trip-42", participants: [{ id: "bob" }] } });
  await sandbox.act("comapi/send-message", { conversation: "trip-42", profile: "bob", text: "Hello" });
  const [message] = (await ask(sandbox, `${SPACE}/conversations/trip-42/messages`, { token })).body.messages;
  assert.deepEqual([message.context.sentBy, message.parts[0].data], ["bob", "Hello"]);
  await sandbox.expectCalls({ route: "message.list", status: 200 }, { exactly: 1 });
}));

test("an Okta token is good for an hour", () => server.withSandbox(async (sandbox) => {
  const token = await sandbox.mint("okta/access", { user: "ada@example.test" });
  assert.equal((await ask(sandbox, "/oauth2/default/v1/userinfo", { token })).body.email, "ada@example.test");
  await sandbox.clock.advance({ minutes: 61 });
  assert.equal((await ask(sandbox, "/oauth2/default/v1/userinfo", { token })).status, 401);
  assert.match((await sandbox.journal.last()).reason, /^expiry: /);
}));

test("a page at port 5173 signs in at Okta", () => server.withSandbox(async (sandbox) => {
  const callback = "http://localhost:5173/callback";
  await sandbox.act("okta/add-client", { id: "0oamyapp000000000001", redirect_uris: [callback] });
  const issuer = `${sandbox.baseURL.replace("127.0.0.1", "localhost")}/oauth2/default`;
  const document = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  assert.equal(document.issuer, issuer);
  const asked = new URLSearchParams({
    client_id: "0oamyapp000000000001", redirect_uri: callback, response_type: "code", scope: "openid", state: "s1",
    code_challenge_method: "S256", code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" });
  const back = await fetch(`${document.authorization_endpoint}?${asked}`, { redirect: "manual" });
  assert.match(back.headers.get("location"), /^http:\/\/localhost:5173\/callback\?code=/);
}));
