// An app for `understudy drill`: it signs in, reads its addresses, and renews its token once when it is told to.
const { UNDERSTUDY_URL: backend } = process.env;
const device = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a";
const headers = { "x-rezolve-partner-apikey": "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6", "x-rezolve-device-id": device };
let authorization;

async function call(path, options = {}) {
  const answer = await fetch(backend + path, { ...options, headers: authorization ? { ...headers, authorization } : headers });
  if (answer.ok) authorization = answer.headers.get("authorization") ?? authorization;
  return answer;
}

async function addresses() {
  const book = "/api/v1/partner/317/customer/entity123/addressbook";
  const answer = await call(book);
  if (answer.status !== 401 || !(await call("/v2/credentials/ping")).ok) return answer;
  return call(book);
}

const body = JSON.stringify({ username: "ada@example.test", password: "not-a-secret-1", deviceId: device });
await call("/v2/credentials/login", { method: "POST", body });
for (let read = 0; read < 3; read += 1) {
  const answer = await addresses();
  if (!answer.ok) throw new Error(`the addresses cannot be read: ${answer.status}`);
}
