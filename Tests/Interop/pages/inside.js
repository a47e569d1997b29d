// Runs in a page that the server itself gave, under whatever name the page was asked for. It reports what it could do.

const source = new URL(document.currentScript.src);
const here = source.searchParams.get("here");

async function ask(method, call, body) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  const answer = await fetch(here + call, { method, headers, body: JSON.stringify(body) });
  return { status: answer.status, text: await answer.text() };
}

(async () => {
  const seen = { from: location.origin };
  try {
    seen.journal = await ask("GET", "journal");
    seen.clock = await ask("PUT", "clock", { now: 946684800, freeze: true });
    seen.drill = await ask("POST", "keys/ims/rotating/replace");
    seen.health = await ask("GET", "health");
  } catch (error) {
    seen.error = `${error}`;
  }
  await fetch(`${source.origin}/seen`, { method: "POST", mode: "no-cors", body: JSON.stringify(seen) });
})();
