import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Headers that are only there for the upgrade. */
const OF_THE_UPGRADE: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/**
 * Returns whether a request asks for a protocol that a deployment may speak, as websockets are. HTTP clients that would
 * like HTTP/2 say so in whatever they send first, with any method and body, and are glad of a usual answer.
 */
export function asksForOtherProtocol({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && !/\bh2c\b/i.test(headers.upgrade ?? '');
}

/**
 * Serves a request as if it asked for no upgrade, which a server may always do (RFC 9110, 7.8). Node takes a connection
 * out of HTTP when a request asks for one, body unread: the request is put back without it, and its connection is served
 * as a new one.
 */
export function serveWithoutUpgrade(server: Server, req: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index]!;
    const value = withoutUpgrade(name.toLowerCase(), req.rawHeaders[index + 1]!);
    if (value !== '') lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/** Returns what is left of a header; an empty text for nothing. */
function withoutUpgrade(name: string, value: string): string {
  if (OF_THE_UPGRADE.has(name)) return '';
  if (name !== 'connection') return value;
  const names = value.split(',').map((each) => each.trim());
  return names.filter((each) => each !== '' && !OF_THE_UPGRADE.has(each.toLowerCase())).join(', ');
}
