// The page: its address is its state; views are shown by it.

import { h, put, button, outcome, submit } from './dom.js';
import { Sandbox, place, vendors, askWith, hostSandbox, firstSandbox } from './api.js';
import { absolute, span } from './words.js';

const VIEWS = { journal: '≡', tokens: '◈', explain: '⚖', sandboxes: '▣', settings: '⚙', scenarios: '⇢', faults: '⚡', keys: '✱', state: '⛁', routes: '↳', sources: '❡' };
const KEYS = [['/', 'filter'], ['j k', 'next, previous entry'], ['enter', 'open it'], ['c', 'copy as curl'], ['esc', 'close it'], ['?', 'these keys']];

const app = {
  params: new URLSearchParams(), view: 'journal', sandbox: new Sandbox(firstSandbox), clock: null,
  /** What the sandbox's clock shows, or the machine's until that is known. */
  now() { return this.clock ? this.clock.unix + (this.clock.frozen ? 0 : (performance.now() - this.clock.read) / 1000) : Date.now() / 1000; },
  /** The address of this view with parameters changed, or of another view with these alone. */
  link(changes, view) {
    const params = new URLSearchParams(view ? {} : this.params);
    const sandbox = changes.sandbox ?? this.sandbox.name;
    for (const [name, value] of Object.entries({ ...changes, sandbox: sandbox === firstSandbox ? null : sandbox })) if (value === null || value === undefined) params.delete(name); else params.set(name, value);
    return `#/${view ?? this.view}${params.size ? `?${params}` : ''}`;
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
    const line = h('div.pending', { role: 'alert' }, h('span', text, ' It happens in 5 s.'), button('Undo', () => end()), button('Now', now));
    const end = () => { clearTimeout(timer); line.remove(); };
    function now() {
      clearTimeout(timer);
      put(line, text, said.element, button('Close', end));
      said.run(async () => { await act(); end(); });
    }
    const timer = setTimeout(now, 5000);
    pending.append(line);
  },
  /** Says what was done in a sandbox, and offers to undo it there. */
  undo(sandbox, text, act) {
    const said = outcome();
    const line = h('div.pending', { role: 'status' }, h('span', h('strong', `In sandbox ${sandbox.name}: `), text),
      button('Undo', () => said.run(async () => { await act(); line.remove(); })), button('Close', () => line.remove()), said.element);
    pending.append(line);
    setTimeout(() => line.remove(), 20000);
  },
  sandboxes(list) {
    app.list = list;
    const { name: own } = app.sandbox;
    const names = of => [...new Set(['default', own, ...of.map(each => each.name)])];
    const all = names(list), key = own + all;
    if (key === listed) return;
    listed = key;
    // A list of hundreds cannot be searched; its view can.
    const few = all.length > 50 ? names(list.toSorted((a, b) => (a.idle_seconds ?? 1e9) - (b.idle_seconds ?? 1e9)).slice(0, 30)) : all;
    put(chooser, few.map(name => h('option', { value: name }, name)), few === all ? null : h('option', { value: '' }, `all ${all.length}…`));
    chooser.value = own;
  },
};
place.link = (changes, view) => app.link(changes, view);

let listed;
let shown = null;

const chooser = h('select', { label: 'Sandbox', onchange: () => choose(chooser.value) });
const clock = h('time.clock', { label: 'Clock' });
const said = outcome();
const live = h('span.live', { role: 'status' }, '● live');
const pending = h('div.pendings');
const freeze = button('Freeze', () => setClock({ freeze: !app.clock?.frozen }), { label: 'Freeze the clock' });
const bar = h('header.bar', h('a.skip', { href: '#content', onclick: event => { event.preventDefault(); main.focus(); } }, 'To the content'), h('strong', h('a', { href: '#/journal' }, 'Understudy')),
  h('label.chooser', h('span', 'sandbox'), chooser),
  h('span.clocks', { role: 'group', label: 'The sandbox’s clock' }, clock,
    button('+1 m', () => setClock({ advance: '1m' })), button('+31 m', () => setClock({ advance: '31m' })), freeze,
    button('now', backToNow, { title: 'Back to the machine’s time; you can undo this' })),
  live, button('?', help, { label: 'Keys', class: 'help' }), said.element);
const nav = h('nav', { label: 'Views' }, h('ul', Object.entries(VIEWS).map(([name, icon]) => h('li', h('a', { 'data-view': name }, h('span.icon', { 'aria-hidden': 'true' }, icon), name[0].toUpperCase() + name.slice(1))))));
const main = h('main', { id: 'content', tabindex: -1 });
const dialogs = h('div');

function choose(name) {
  if (!name) {
    chooser.value = app.sandbox.name;
    return app.go('sandboxes');
  }
  if (hostSandbox && name !== hostSandbox) location.host = location.host.replace(/^[^.]+/, name);
  else app.change({ sandbox: name, entry: null, with: null });
}

async function route() {
  const [, name, query] = /^#\/([a-z]*)\??(.*)$/.exec(location.hash) ?? [];
  app.params = new URLSearchParams(query);
  const own = hostSandbox ?? app.params.get('sandbox') ?? firstSandbox;
  if (app.sandbox.name !== own) {
    app.sandbox = new Sandbox(own);
    app.sandboxes(app.list);
    put(said.element);
    showClock(app.sandbox, null);
    readClock();
  }
  const view = app.view = Object.hasOwn(VIEWS, name) ? name : 'journal';
  const loaded = await Promise.all([import(`./${view}.js`), vendors()]).catch(problem => place.isOnline && said.fail(problem));
  // The address may have changed meanwhile.
  if (view !== app.view) return;
  if (!loaded) return setTimeout(route, 2000);
  const [module, all] = loaded;
  const { sandbox } = app;
  // A view is of one sandbox for good, so its results never show in another one's.
  if (shown?.name !== view || shown.sandbox !== sandbox) {
    shown?.view.close?.();
    shown = { name: view, sandbox, view: module.view(app, sandbox, all, shown?.name === view ? shown.view : null) };
    put(main, shown.view.node);
    main.scrollTop = 0;
  }
  document.title = `${module.title} · ${sandbox.name} · Understudy`;
  for (const link of nav.querySelectorAll('a')) {
    link.href = app.link({}, link.dataset.view);
    link.ariaCurrent = link.dataset.view === view ? 'page' : null;
    if (link.ariaCurrent) link.scrollIntoView({ block: 'nearest', inline: 'center' });
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
  freeze.ariaLabel = `${freeze.textContent} the clock`;
  tick();
}

function tick() {
  if (!app.clock) return put(clock, '…');
  const { frozen, machine_time: isMachine } = app.clock;
  const [date, time] = absolute(app.now()).split(/ (.*)/);
  const ahead = Math.round(app.now() - Date.now() / 1000);
  put(clock, h('span.date', `${date} `), time.split(' ')[0], h('span.date', ' UTC'), isMachine ? '' : h('strong', frozen ? ' frozen' : ' moved', ahead ? `, ${span(ahead)} ${ahead > 0 ? 'ahead' : 'behind'}` : ''));
  clock.classList.toggle('moved', !isMachine);
  clock.dateTime = new Date(app.now() * 1000).toISOString();
}

function help() {
  const dialog = open('Keys', () => {}, h('dl.keys', KEYS.map(([key, what]) => [h('dt', h('kbd', key)), h('dd', what)])), button('Close', () => dialog.close()));
}

function open(name, onclose, ...parts) {
  const dialog = h('dialog', { label: name, onclose: () => { onclose(); dialog.remove(); } }, h('h2', name), parts);
  dialogs.append(dialog);
  dialog.showModal();
  return dialog;
}

askWith(isWrong => new Promise(resolve => {
  const input = h('input', { type: 'password', autocomplete: 'off', required: true, label: 'Control token' });
  open('Control token', () => resolve(input.value.trim() || null), h('form', { method: 'dialog' }, h('p', 'This server was started with --control-token. The token is kept for this tab only.'),
    isWrong && h('p.bad', { role: 'alert' }, '✕ This is not the token.'), input, h('div.tools', submit('Continue'))));
}));

document.addEventListener('connection', () => {
  const isLive = place.isOnline && place.isKnown;
  live.className = isLive ? 'live' : 'live gone';
  put(live, isLive ? '● live' : place.isOnline ? '✕ not signed in' : '✕ server gone; trying again');
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
    app.sandboxes([...sandboxes, ...stored]);
  } catch { /* As above. */ }
  setTimeout(follow, 5000);
}

put(document.getElementById('app'), bar, nav, main, pending, dialogs);
app.sandboxes([]);
tick();
setInterval(tick, 1000);
route();
follow();
