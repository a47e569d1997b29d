// Searches the whole text of all pages, which search-index.js holds: no service, and no request.
"use strict";

const field = document.querySelector("input[name=q]");
const results = document.querySelector("#results");
const SHOWN = 40;

/** Curly quotes and capitals make no difference. */
const plain = (text) => text.toLowerCase().replace(/[‘’]/g, "'").replace(/[“”]/g, '"');

for (const part of PARTS) {
  part.plainTitle = plain(`${part.title} ${part.heading}`);
  part.plainText = plain(part.text);
}

/** The parts that hold every word, the best first: titles count more than text, and decisions less than guides. */
function found(words) {
  const hits = [];
  for (const part of PARTS) {
    let score = 0;
    for (const word of words) {
      const inTitle = part.plainTitle.includes(word), times = part.plainText.split(word).length - 1;
      if (!inTitle && times === 0) { score = 0; break; }
      score += (inTitle ? 10 : 0) + Math.min(times, 5);
    }
    if (score > 0) hits.push([part.group === "Decisions" ? score / 4 : score, part]);
  }
  return hits.sort((one, other) => other[0] - one[0]).map(([, part]) => part);
}

/** The text around the longest word, which is likely the rarest, with all words marked. */
function excerpt(part, words) {
  const there = words.filter((word) => part.plainText.includes(word)).sort((one, other) => other.length - one.length);
  const start = Math.max(0, part.plainText.indexOf(there[0] ?? "") - 60);
  const line = document.createElement("small");
  if (there.length === 0) {
    line.textContent = part.text.slice(0, 180);
    return line;
  }
  const shown = (start > 0 ? "…" : "") + part.text.slice(start, start + 200);
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  for (const [place, piece] of shown.split(pattern).entries()) {
    const node = place % 2 ? document.createElement("mark") : document.createTextNode("");
    node.textContent = piece;
    line.append(node);
  }
  return line;
}

function search() {
  const words = plain(field.value).split(/\s+/).filter(Boolean);
  results.hidden = words.length === 0;
  document.querySelector("#pages").hidden = words.length > 0;
  if (words.length === 0) return;
  const hits = found(words);
  results.querySelector("h2").textContent = hits.length === 0 ? "Nothing has all of these words"
    : hits.length > SHOWN ? `The first ${SHOWN} of ${hits.length} places` : hits.length === 1 ? "1 place" : `${hits.length} places`;
  results.querySelector("ul").replaceChildren(...hits.slice(0, SHOWN).map((part) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = part.path;
    link.textContent = part.heading ? `${part.title}: ${part.heading}` : part.title;
    item.append(link, excerpt(part, words));
    return item;
  }));
}

field.addEventListener("input", () => {
  history.replaceState(null, "", field.value ? `?q=${encodeURIComponent(field.value)}` : location.pathname);
  search();
});
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
document.querySelector("#notice").hidden = location.protocol !== "file:";
field.value = new URLSearchParams(location.search).get("q") ?? "";
field.focus();
search();
