/** Answers requests to change the protocol of a connection (websockets), for which there is no response object. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AppError } from '../errors.ts';
import { LINGER_MS } from './unread-bodies.ts';

/**
 * Answers an upgrade request with an error, as `answerError` does for any other request, and closes the connection.
 *
 * @param lingerMs see {@link endAfterAnswer}
 */
export function refuseUpgrade(socket: Duplex, error: AppError, { lingerMs = LINGER_MS } = {}): void {
  if (socket.destroyed || !socket.writable) return;
  endAfterAnswer(socket, { lingerMs });
  const body = JSON.stringify({ detail: error.message });
  const headers = Object.entries(error.headers).flat();
  const length = String(Buffer.byteLength(body));
  const own = ['content-type', 'application/json', 'content-length', length, 'connection', 'close'];
  socket.end(headOf(error.status, [...headers, ...own]) + body);
}

/**
 * Closes a connection that Node has taken out of HTTP once its answer has been written. Nobody reads there any more: the
 * end that a client sends would go unseen, and the connection would stay for ever.
 *
 * @param lingerMs milliseconds after the answer in which the client may still send and close the connection itself
 */
export function endAfterAnswer(socket: Duplex, { lingerMs = LINGER_MS } = {}): void {
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => {
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
    socket.resume();
  });
}

/** Returns the status line and headers of a response. @param headers names and values in turn */
export function headOf(status: number, headers: string[]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let index = 0; index < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${head}\r\n`;
}

/**
 * Passes bytes both ways; the end of either side ends the other.
 *
 * @param through what is sent passes through it, on its way from `one`
 */
export function joinSockets(one: Duplex, other: Duplex, { through }: { through?: Duplex } = {}): void {
  if (through) {
    one.pipe(through).pipe(other);
    one.on('close', () => through.destroy());
  } else one.pipe(other);
  other.pipe(one);
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}
