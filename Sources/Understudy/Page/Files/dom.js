// Elements are made here and nowhere else: what is shown is text, never markup.

const SVG = 'http://www.w3.org/2000/svg';

/** An element: `h('td.warn', {title}, 'text', child, …)`. Attributes are set by name; `on…` are listeners. */
export function h(what, ...rest) { return fill(document.createElement(tag(what)), what, rest); }

/** The same for drawings. */
export function svg(what, ...rest) { return fill(document.createElementNS(SVG, tag(what)), what, rest); }

const tag = what => what.split('.')[0] || 'div';

function fill(element, what, rest) {
  const classes = what.split('.').slice(1);
  if (classes.length) element.setAttribute('class', classes.join(' '));
  for (const part of rest) add(element, part);
  return element;
}

function add(element, part) {
  if (part === null || part === undefined || part === false) return;
  if (Array.isArray(part)) return part.forEach(each => add(element, each));
  if (part instanceof Node) return element.append(part);
  if (typeof part !== 'object') return element.append(document.createTextNode(String(part)));
  for (const [name, value] of Object.entries(part)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Replaces what an element holds. */
export function put(element, ...parts) {
  element.replaceChildren();
  for (const part of parts) add(element, part);
  return element;
}

export const button = (name, act, extra) => h('button', { type: 'button', onclick: act, ...extra }, name);

/** A control with its label; `wide` lets it take the line. */
export function field(name, control, hint) {
  return h('label.field', h('span', name), control, hint ? h('small', hint) : null);
}

/** A list to choose from; options are texts or [value, text]. */
export function select(options, value, act, extra) {
  const element = h('select', { onchange: () => act?.(element.value), ...extra }, options.map(option => {
    const [key, text] = Array.isArray(option) ? option : [option, option];
    return h('option', { value: key }, text);
  }));
  if (value !== undefined && value !== null) element.value = value;
  return element;
}

/** A table: the names of the columns, and rows of cells. */
export function table(label, columns, rows) {
  return h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': label }, h('table', { 'aria-label': label },
    h('thead', h('tr', columns.map(name => h('th', { scope: 'col' }, name)))),
    h('tbody', rows.map(row => row instanceof Node ? row : h('tr', row.map((cell, index) => h('td', { 'data-label': columns[index] || null }, cell)))))));
}

/** A part that opens and closes; what is in it is made when it is first opened. */
export function fold(name, make, isOpen = false) {
  const place = h('div.folded');
  let isMade = false;
  const element = h('details', { open: isOpen, ontoggle: show }, h('summary', name), place);
  function show() {
    if (isMade || !element.open) return;
    isMade = true;
    put(place, make());
  }
  if (isOpen) show();
  return element;
}

/** A value as JSON people read. */
export const code = value => h('pre.code', { tabindex: 0 },
  typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** What a view shows while there is nothing, with a line that fills it, or the promise of one. */
export function empty(text, line) {
  const place = h('div.line');
  Promise.resolve(line).then(line => { if (line) put(place, code(line), copier('Copy the line', () => line)); }).catch(() => { /* The text says enough. */ });
  return h('div.empty', h('p', text), place);
}

/** What a view shows when its filter leaves nothing. */
export const unfit = (text, clear) => h('div.empty', h('p', text), button('Clear the filters', clear));

/** A button that puts a text on the clipboard and says so. */
export function copier(name, make, extra) {
  const element = button(name, async () => {
    try {
      await copy(await make());
      element.textContent = 'Copied';
    } catch (problem) {
      element.textContent = problem.message;
    }
    setTimeout(() => { element.textContent = name; }, 1500);
  }, extra);
  return element;
}

/** Copies the older way where a browser denies the clipboard; listeners for `copied` get the text. */
async function copy(text) {
  document.dispatchEvent(new CustomEvent('copied', { detail: text }));
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea.offscreen', { 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

/** A view that rereads at intervals until it is closed. */
export function repeated(node, read, said, milliseconds) {
  let isOpen = true;
  async function follow() {
    while (isOpen) {
      await read().catch(said.fail);
      await new Promise(done => setTimeout(done, milliseconds));
    }
  }
  follow();
  return { node, update() {}, close() { isOpen = false; } };
}

/** Shows the result of a call beside a control, in the control API's own words. */
export function outcome() {
  const element = h('p.outcome', { role: 'status' });
  return {
    element,
    say: text => { element.className = 'outcome'; put(element, text); },
    fail: problem => { element.className = 'outcome bad'; put(element, '✕ ', problem.message); },
    /** Runs a call; what goes wrong is shown here. */
    run: async act => {
      put(element);
      try { return await act(); } catch (problem) { element.className = 'outcome bad'; put(element, '✕ ', problem.message); }
    },
  };
}
