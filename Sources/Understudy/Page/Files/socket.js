// The messages of a socket in two lanes, in and out, by time.

import { h, code, button } from './dom.js';
import { timeOfDay } from './words.js';
import { checkTable } from './checks.js';

/** The messages; `again` rereads the entry. */
export function socketView(socket, sandbox, app, again) {
  const left = socket.received + socket.sent - socket.frames.length;
  return h('div.socket',
    left > 0 ? h('p.note', `${left} older messages are no longer kept.`) : null,
    h('ol.lanes', { 'aria-label': 'Messages' }, socket.frames.map(frame => {
      const isIn = frame.from === 'client';
      return h(`li.${isIn ? 'in' : 'out'}`,
        h('p', h('span', { 'aria-hidden': 'true' }, isIn ? '→ ' : '← '), isIn ? 'from the client' : 'from the server', ' ', h('time', { datetime: frame.at }, timeOfDay(frame.at)), frame.cause ? [', caused by ', cause(frame.cause, sandbox, app)] : null),
        code(frame.message),
        frame.findings.length ? checkTable(frame.findings, 'Remarks') : null);
    })),
    socket.findings.length ? checkTable(socket.findings, 'Opening and end') : null,
    socket.closed ? h('p', `Closed with ${socket.closed.code} ${socket.closed.reason} at ${timeOfDay(socket.closed.at)}.`) : h('p', 'Still open. ', button('Refresh', again)));
}

/** A link to the call that a message was sent for; what it was is fetched, since the journal may have dropped it. */
function cause(id, sandbox, app) {
  const link = h('a', { href: app.link({ entry: id }) }, `entry ${id}`);
  sandbox.get(`journal/${id}?format=brief`).then(({ route, method, target }) => link.prepend(`${route ?? `${method} ${target}`}, `)).catch(() => link.removeAttribute('href'));
  return link;
}
