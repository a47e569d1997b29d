// The page: its address is its state; views are shown by it.

import { h, put, button, outcome } from './dom.js';
import { Sandbox, place, askWith, hostSandbox, firstSandbox } from './api.js';
import { absolute } from './words.js';
import * as journal from './journal.js';

const VIEWS = [
  ['journal', '≡', 'Journal'], ['unmatched', '?', 'Unmatched'], ['tokens', '◈', 'Tokens'], ['explain', '⚖', 'Explain'], ['sandboxes', '▣', 'Sandboxes'], ['settings', '⚙', 'Settings'],
  ['scenarios', '⇢', 'Scenarios'], ['faults', '⚡', 'Faults'], ['keys', '✱', 'Keys'], ['state', '⛁', 'State'], ['routes', '↳', 'Routes'],
];
const KEYS = [['/', 'filter'], ['j k', 'next, previous entry'], ['enter', 'open it'], ['c', 'copy as curl'], ['esc', 'close it'], ['?', 'these keys']];

const app = {
  params: new URLSearchParams(), view: 'journal', sandbox: new Sandbox(firstSandbox), names: [], clock: null,
  /** What the sandbox's clock shows, or the machine's until that is known. */
  now() { return this.clock ? this.clock.unix + (this.clock.frozen ? 0 : (performance.now() - this.clock.read) / 1000) : Date.now() / 1000; },
  /** The address of this view with parameters changed, or of another view with these alone. */
  link(changes, view) {
    const params = new URLSearchParams(view ? {} : this.params);
    const sandbox = changes.sandbox ?? this.sandbox.name;
    params.delete('sandbox');
    for (const [name, value] of Object.entries(changes)) if (value === null || value === undefined) params.delete(name); else params.set(name, value);
    if (sandbox === firstSandbox) params.delete('sandbox'); else params.set('sandbox', sandbox);
    const query = params.toString();
    return `#/${view ?? this.view}${query ? `?${query}` : ''}`;
  },
  go(view) { location.hash = this.link({}, view); },
  /** Changes parameters; what is typed replaces the address instead of making a step to go back to. */
  change(changes, isTyped = false) {
    const address = this.link(changes);
    if (!isTyped) { location.hash = address; return; }
    history.replaceState(null, '', address);
    route();
  },
  /** Acts after five seconds, in which it can be undone; the text names the sandbox. */
  later(text, act) {
    const said = outcome();
    let isOver = false;
    const end = async isDone => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (isDone && await said.run(async () => { await act(); return true; }) !== true) { put(line, said.element, button('Close', () => line.remove())); return; }
      line.remove();
    };
    const timer = setTimeout(() => end(true), 5000);
    const line = h('div.pending', { role: 'alert' }, h('span', text, ' It happens in 5 s.'), button('Undo', () => end(false)), button('Now', () => end(true)));
    pending.append(line);
  },
  /** Says what was done in a sandbox, and offers to undo it there. */
  undo(sandbox, text, act) {
    const said = outcome();
    const line = h('div.pending', { role: 'status' }, h('span', h('strong', `In sandbox ${sandbox.name}: `), text), button('Undo', async () => {
      if (await said.run(async () => { await act(); return true; })) line.remove();
    }), button('Close', () => line.remove()), said.element);
    pending.append(line);
    setTimeout(() => line.remove(), 20000);
  },
  sandboxes(names) {
    app.names = names;
    const { name: own } = app.sandbox;
    const all = [...new Set([...names, own])].sort();
    const key = all.join() + own;
    if (key === listed) return;
    listed = key;
    put(chooser, all.map(name => h('option', { value: name }, name)));
    chooser.value = own;
  },
};

let listed = '';
let shown = null;

const chooser = h('select', { 'aria-label': 'Sandbox', onchange: () => choose(chooser.value) });
const clock = h('time.clock', { 'aria-label': 'Clock' });
const said = outcome();
const live = h('span.live', { role: 'status' }, '● live');
const pending = h('div.pendings');
const freeze = button('Freeze', () => setClock({ freeze: !app.clock?.frozen }), { 'aria-label': 'Freeze the clock' });
const bar = h('header.bar', h('a.skip', { href: '#content', onclick: event => { event.preventDefault(); main.focus(); } }, 'To the content'), h('strong', h('a', { href: '#/journal' }, 'Understudy')),
  h('label.chooser', h('span', 'sandbox'), chooser),
  h('span.clocks', { role: 'group', 'aria-label': 'The sandbox’s clock' }, clock,
    button('+1 m', () => setClock({ advance: '1m' })), button('+31 m', () => setClock({ advance: '31m' })), freeze,
    button('now', backToNow, { title: 'Back to the machine’s time; you can undo this' })),
  live, button('?', help, { 'aria-label': 'Keys', class: 'help' }), said.element);
const nav = h('nav', { 'aria-label': 'Views' }, h('ul', VIEWS.map(([name, icon, text]) => h('li', h('a', { 'data-view': name }, h('span.icon', { 'aria-hidden': 'true' }, icon), text)))));
const main = h('main', { id: 'content', tabindex: -1 });
const dialogs = h('div');

function choose(name) {
  if (hostSandbox && name !== hostSandbox) location.host = location.host.replace(/^[^.]+/, name);
  else app.change({ sandbox: name, entry: null, with: null });
}

async function route() {
  const [, name, query] = /^#\/([a-z]*)\??(.*)$/.exec(location.hash) ?? [null, 'journal', ''];
  const isKnown = VIEWS.some(([view]) => view === name);
  app.params = new URLSearchParams(query);
  const own = hostSandbox ?? app.params.get('sandbox') ?? firstSandbox;
  if (app.sandbox.name !== own) {
    app.sandbox = new Sandbox(own);
    app.sandboxes(app.names);
    put(said.element);
    showClock(app.sandbox, null);
    readClock();
  }
  if (name === 'unmatched') { history.replaceState(null, '', app.link({ unmatched: 'true' }, 'journal')); return route(); }
  const view = app.view = isKnown ? name : 'journal';
  const module = view === 'journal' ? journal : await import(`./${view}.js`);
  // The address may have changed meanwhile.
  if (view !== app.view) return;
  const { sandbox } = app;
  // A view is of one sandbox for good, so its results never show in another one's.
  if (shown?.name !== view || shown.sandbox !== sandbox) {
    shown?.view.close?.();
    shown = { name: view, sandbox, view: module.view(app, sandbox, shown?.name === view ? shown.view : null) };
    put(main, shown.view.node);
    main.scrollTop = 0;
  }
  document.title = `${module.title} · ${sandbox.name} · Understudy`;
  for (const link of nav.querySelectorAll('a')) {
    const view = link.dataset.view;
    const isUnmatched = app.view === 'journal' && app.params.get('unmatched') === 'true';
    link.href = view === 'unmatched' ? app.link({ unmatched: 'true' }, 'journal') : app.link({}, view);
    if (view === (isUnmatched ? 'unmatched' : app.view)) { link.setAttribute('aria-current', 'page'); link.scrollIntoView({ block: 'nearest', inline: 'nearest' }); } else link.removeAttribute('aria-current');
  }
  shown.view.update(app.params);
}

async function readClock() {
  const { sandbox } = app;
  try { showClock(sandbox, await sandbox.get('clock')); } catch { /* The connection's own sign says that the server is gone. */ }
}

/** Acts in the sandbox shown at the press; a problem names it if another one was chosen since. */
const press = act => {
  const { sandbox } = app;
  return said.run(() => act(sandbox).catch(problem => { throw sandbox === app.sandbox ? problem : new Error(`In sandbox ${sandbox.name}: ${problem.message}`); }));
};

const setClock = content => press(async sandbox => showClock(sandbox, await sandbox.call('PUT', 'clock', content)));

function backToNow() {
  return press(async sandbox => {
    // What the page knows of the clock may be five seconds old.
    const { machine_time: isMachine, unix, frozen } = await sandbox.get('clock');
    const read = performance.now();
    // A running clock has moved on by the time it is restored.
    const before = () => ({ now: frozen ? unix : unix + (performance.now() - read) / 1000, freeze: frozen });
    showClock(sandbox, await sandbox.call('DELETE', 'clock'));
    if (!isMachine) app.undo(sandbox, `The clock shows the machine’s time and no longer ${absolute(unix)}.`, async () => showClock(sandbox, await sandbox.call('PUT', 'clock', before())));
  });
}

/** Shows what a sandbox's clock said, if the page still shows that sandbox; null until it has said something. */
function showClock({ name }, value) {
  if (name !== app.sandbox.name) return;
  app.clock = value && { ...value, read: performance.now() };
  freeze.textContent = value?.frozen ? 'Resume' : 'Freeze';
  freeze.setAttribute('aria-label', value?.frozen ? 'Resume the clock' : 'Freeze the clock');
  tick();
}

function tick() {
  if (!app.clock) return put(clock, '…');
  const { frozen, machine_time: isMachine } = app.clock;
  const [date, time] = absolute(app.now()).split(/ (.*)/);
  put(clock, h('span.date', `${date} `), time.split(' ')[0], h('span.date', ' UTC'), frozen ? ' frozen' : isMachine ? '' : ' moved');
  clock.setAttribute('datetime', new Date(app.now() * 1000).toISOString());
}

function help() {
  const dialog = h('dialog', { 'aria-label': 'Keys' }, h('h2', 'Keys'), h('dl.keys', KEYS.map(([key, what]) => [h('dt', h('kbd', key)), h('dd', what)])),
    button('Close', () => dialog.close()));
  dialog.addEventListener('close', () => dialog.remove());
  dialogs.append(dialog);
  dialog.showModal();
}

/** Asks for the control token; it is kept for this tab only. */
askWith(() => new Promise(resolve => {
  const input = h('input', { type: 'password', autocomplete: 'off', required: true, 'aria-label': 'Control token' });
  const form = h('form', { method: 'dialog' }, h('h2', 'Control token'), h('p', 'This server was started with --control-token. The token is kept for this tab only.'), input,
    h('div.tools', h('button', { type: 'submit' }, 'Continue')));
  const dialog = h('dialog', { 'aria-label': 'Control token' }, form);
  dialog.addEventListener('close', () => { resolve(input.value.trim() || null); dialog.remove(); });
  dialogs.append(dialog);
  dialog.showModal();
}));

document.addEventListener('connection', () => {
  live.className = place.isOnline ? 'live' : 'live gone';
  put(live, place.isOnline ? '● live' : '✕ server gone; trying again');
});
document.addEventListener('keydown', event => {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest('dialog')) return;
  if (target.closest('input, textarea, select')) { if (event.key === 'Escape') target.blur(); return; }
  if (event.key === '?') help();
  else if (!shown?.view.key?.(event)) return;
  event.preventDefault();
});
addEventListener('hashchange', route);

async function follow() {
  await readClock();
  try {
    const { sandboxes, stored = [] } = await app.sandbox.get('sandboxes');
    app.sandboxes([...new Set([...sandboxes, ...stored].map(each => each.name))]);
  } catch { /* As above. */ }
  setTimeout(follow, 5000);
}

put(document.getElementById('app'), bar, nav, main, pending, dialogs);
tick();
setInterval(tick, 1000);
route();
follow();
