// Elements are made here and nowhere else: what is shown is text, never markup.

const SVG = 'http://www.w3.org/2000/svg';

/** An element: `h('td.warn', {title}, 'text', child, …)`. Attributes go by name, `label` is read aloud; `on…` are listeners. */
export function h(what, ...rest) { return fill(document.createElement(tag(what)), what, rest); }

export function svg(what, ...rest) { return fill(document.createElementNS(SVG, tag(what)), what, rest); }

const tag = what => what.split('.')[0] || 'div';

function fill(element, what, rest) {
  const classes = what.split('.').slice(1);
  if (classes.length) element.setAttribute('class', classes.join(' '));
  for (const part of rest) add(element, part);
  return element;
}

const isNone = value => (value ?? false) === false;

function add(element, part) {
  if (isNone(part)) return;
  if (Array.isArray(part)) return part.forEach(each => add(element, each));
  if (part instanceof Node) return element.append(part);
  if (typeof part !== 'object') return element.append(document.createTextNode(String(part)));
  for (const [name, value] of Object.entries(part)) {
    if (isNone(value)) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name === 'label' ? 'aria-label' : name, value === true ? '' : String(value));
  }
}

export function put(element, ...parts) {
  element.replaceChildren();
  for (const part of parts) add(element, part);
  return element;
}

export const signed = text => h('span.sign', { 'aria-hidden': 'true' }, text);

export const submit = name => h('button', { type: 'submit' }, name);

export const button = (name, act, extra) => h('button', { type: 'button', onclick: act, ...extra }, name);

export function field(name, control, hint) {
  return h('label.field', h('span', name), control, hint && h('small', hint));
}

/** The names and values of the inputs of a part that are filled in. */
export const filled = part => [...part.querySelectorAll('input')].filter(input => input.value).map(input => [input.name, input.value]);

/** A list to choose from; options are texts or [value, text]. */
export function select(options, value, act, extra) {
  const element = h('select', { onchange: () => act?.(element.value), ...extra }, options.map(option => {
    const [key, text] = Array.isArray(option) ? option : [option, option];
    return h('option', { value: key }, text);
  }));
  if (!isNone(value)) element.value = value;
  return element;
}

/** What may be wider than its place, and then scrolls in itself. */
export const region = (label, ...parts) => h('div.scroll', { tabindex: 0, role: 'region', label }, parts);

/** A table, if there are rows: the names of the columns, where they need any, and cells. */
export function table(label, columns, rows) {
  return rows.length > 0 && region(label, h('table', { label },
    columns && h('thead', h('tr', columns.map(name => h('th', { scope: 'col' }, name)))),
    h('tbody', rows.map(row => row instanceof Node ? row : h('tr', row.map((cell, index) => h('td', { 'data-label': columns?.[index] || null }, cell)))))));
}

/** The filter of a view by words, which stand in the address; the key `/` leads to it. */
export function searchBox(app) {
  const element = h('input', { type: 'search', placeholder: 'Filter  /', label: 'Free text', oninput: () => app.change({ text: element.value || null }, true) });
  return {
    element,
    words(params) {
      const text = params.get('text') ?? '';
      if (document.activeElement !== element) element.value = text;
      return text.toLowerCase();
    },
    key(event) {
      if (event.key === '/') element.focus();
      return event.key === '/';
    },
  };
}

/** A part that opens and closes; what is in it is made when it is first opened. */
export function fold(name, make, isOpen = false) {
  const place = h('div.folded');
  let isMade = false;
  const element = h('details', { open: isOpen, ontoggle: show }, h('summary', name), place);
  function show() {
    if (!isMade && element.open) put(place, make());
    isMade ||= element.open;
  }
  show();
  return element;
}

export const code = value => h('pre.code', { tabindex: 0 },
  typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** What a view shows while there is nothing, with a line that fills it, or the promise of one. */
export function empty(text, line) {
  const place = h('div.line');
  Promise.resolve(line).then(line => { if (line) put(place, code(line), copier('Copy the line', () => line)); }).catch(() => { /* The text says enough. */ });
  return h('div.empty', h('p', text), place);
}

export const unfit = (text, clear) => h('div.empty', h('p', text), button('Clear the filters', clear));

export function copier(name, make, extra) {
  const element = button(name, async () => {
    element.textContent = await copy(make).then(() => 'Copied', problem => problem.message);
    setTimeout(() => { element.textContent = name; }, 1500);
  }, extra);
  return element;
}

/** Copies the older way where a browser denies the clipboard; listeners for `copied` get the text. */
async function copy(make) {
  const text = await make();
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

/** A view that reads a value at intervals, and draws it when it has changed, keeping the focus; `again` reads at once. */
export function repeated(node, said, milliseconds, read, draw) {
  let isOpen = true;
  let drawn = '';
  async function again() {
    const value = await read();
    const text = JSON.stringify(value);
    // Were a pressed control replaced, its click would be lost.
    if (text === drawn || node.matches(':active')) return;
    drawn = text;
    const focused = document.activeElement;
    draw(value);
    if (!focused.isConnected) [...node.querySelectorAll(focused.tagName)].find(each => each.outerHTML === focused.outerHTML)?.focus();
  }
  async function follow() {
    while (isOpen) {
      await again().catch(said.fail);
      await new Promise(done => setTimeout(done, milliseconds));
    }
  }
  follow();
  return { node, again, update() {}, close() { isOpen = false; } };
}

/** Shows the result of a call beside a control, in the control API's own words. */
export function outcome() {
  const element = h('p.outcome', { role: 'status' });
  const fail = problem => { element.className = 'outcome bad'; put(element, '✕ ', problem.message); };
  return {
    element,
    fail,
    say: text => { element.className = 'outcome'; put(element, text); },
    /** Runs a call; what goes wrong is shown here. */
    run: async act => {
      put(element);
      try { return await act(); } catch (problem) { fail(problem); }
    },
  };
}
