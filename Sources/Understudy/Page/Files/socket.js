// The messages of a socket by time: a line for each, which opens.

import { h, code, button, fold } from './dom.js';
import { timeOfDay, shown, plain } from './words.js';
import { checkTable } from './checks.js';

export function socketView(socket, sandbox, app, again) {
  const left = socket.received + socket.sent - socket.frames.length;
  return h('div.socket',
    left > 0 && h('p.note', `${left} older messages are no longer kept.`),
    h('ol.lanes', { label: 'Messages' }, socket.frames.map(frame => h(`li.${frame.from === 'client' ? 'in' : 'out'}`, fold(line(frame), () => [
      frame.cause && h('p', 'Caused by ', cause(frame.cause, sandbox, app)),
      code(frame.message),
      checkTable(frame.findings, 'Remarks')])))),
    checkTable(socket.findings, 'Opening and end'),
    socket.closed ? h('p', `Closed with ${socket.closed.code} ${socket.closed.reason} at ${timeOfDay(socket.closed.at)}.`) : h('p', 'Still open. ', button('Refresh', again)));
}

/** Time, direction, remarks, and the message as far as there is room. */
function line({ from, at, message, findings }) {
  const { name, ...rest } = message !== null && typeof message === 'object' ? message : { rest: message };
  return [`${timeOfDay(at)} `, h('span', { title: `from the ${from}` }, from === 'client' ? '→ in ' : '← out '),
    findings.length ? h('strong.remark', `! ${findings.map(each => plain(each.check)).join(', ')} `) : null,
    name && h('strong', shown(name), ' '), h('code', shown(name || !('rest' in rest) ? rest : rest.rest).slice(0, 300))];
}

/** A link to the call that a message was sent for; what it was is fetched, since the journal may have dropped it. */
function cause(id, sandbox, app) {
  const link = h('a', { href: app.link({ entry: id }) }, `entry ${id}`);
  sandbox.get(`journal/${id}?format=brief`).then(({ route, method, target }) => link.prepend(`${route ?? `${method} ${target}`}, `)).catch(() => link.removeAttribute('href'));
  return link;
}
