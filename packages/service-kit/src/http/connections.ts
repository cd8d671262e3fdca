import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A connection that was opened at the last moment may have its first request on the way. */
const LAST_REQUEST_MS = 250;

export interface DrainTimes {
  /**
   * Milliseconds for which new connections and requests are still accepted, because clients learn of the stop with a
   * delay.
   */
  windowMs: number;
  /** Milliseconds for which requests in flight may go on after that. */
  drainMs: number;
  /** Is called when no new requests come any more. */
  onClosed?: (() => void) | undefined;
}

/**
 * Closes a server without cutting requests off. Node's own `closeIdleConnections` leaves connections open that never
 * sent a request, and browsers and clients open such ones in advance.
 */
export class Connections {
  readonly #server: Server;
  /** Number of requests in flight per connection. */
  readonly #active = new Map<Socket, number>();
  /**
   * True once an answer is the last of its connection. Before, clients are told so by `Connection: close` (see
   * `closeAfterAnswer`); those that could not be told may have sent the next request already.
   */
  #closesIdle = false;
  #onNone: (() => void) | undefined;

  constructor(server: Server) {
    this.#server = server;
    const known = new WeakSet<Socket>();
    server.on('connection', (socket: Socket) => {
      this.#active.set(socket, 0);
      // A connection comes anew when a request asked for an upgrade and is served without.
      if (known.has(socket)) return;
      known.add(socket);
      socket.once('close', () => this.#forget(socket));
    });
    server.on('request', ({ socket }, res) => {
      this.#active.set(socket, (this.#active.get(socket) ?? 0) + 1);
      res.once('close', () => this.#finished(socket));
    });
    // After an upgrade, its handler owns the connection.
    server.on('upgrade', ({ socket }) => this.#forget(socket));
  }

  /** Resolves when all connections are closed; those with requests after the given times are cut. */
  async drain({ windowMs, drainMs, onClosed }: DrainTimes): Promise<void> {
    await this.#noneWithin(windowMs);
    this.#closesIdle = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    if (windowMs > 0) await this.#noneWithin(LAST_REQUEST_MS);
    for (const [socket, requests] of this.#active) if (requests === 0) socket.destroySoon();
    onClosed?.();
    const cut = setTimeout(() => {
      for (const socket of this.#active.keys()) socket.destroy();
    }, drainMs);
    await closed;
    clearTimeout(cut);
  }

  /** Resolves when nobody is connected, at the latest after `ms`. */
  async #noneWithin(ms: number): Promise<void> {
    if (ms <= 0 || this.#active.size === 0) return;
    const waiting = new AbortController();
    this.#onNone = () => waiting.abort();
    await pause(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
    this.#onNone = undefined;
  }

  #forget(socket: Socket): void {
    this.#active.delete(socket);
    if (this.#active.size === 0) this.#onNone?.();
  }

  #finished(socket: Socket): void {
    const requests = (this.#active.get(socket) ?? 1) - 1;
    if (this.#active.has(socket)) this.#active.set(socket, requests);
    if (this.#closesIdle && requests === 0) socket.destroySoon();
  }
}
