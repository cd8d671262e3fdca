import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A connection made at the last moment may have its first request on the way. */
const LAST_REQUEST_MS = 250;

export interface DrainTimes {
  /** For this long new connections and requests are still taken: those who send them are finding out. */
  windowMs: number;
  /** How long requests in flight may go on after that. */
  drainMs: number;
  /** Called when no new requests come any more. */
  onClosed?: (() => void) | undefined;
}

/**
 * Closes a server without cutting requests off. Node's own `closeIdleConnections` leaves those open that never sent a
 * request, and browsers and clients open such ones ahead of need.
 */
export class Connections {
  readonly #server: Server;
  /** Requests in flight per connection. */
  readonly #active = new Map<Socket, number>();
  #isDraining = false;
  #onNone: (() => void) | undefined;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#active.set(socket, 0);
      socket.once('close', () => this.#gone(socket));
    });
    server.on('request', ({ socket }, res) => {
      this.#active.set(socket, (this.#active.get(socket) ?? 0) + 1);
      res.once('close', () => this.#finished(socket));
    });
    // From here on the connection belongs to whoever handles the upgrade.
    server.on('upgrade', ({ socket }) => this.#gone(socket));
  }

  /** Resolves when all connections are closed; those still at work after the times given are cut. */
  async drain({ windowMs, drainMs, onClosed }: DrainTimes): Promise<void> {
    this.#isDraining = true;
    await this.#noneWithin(windowMs);
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

  #gone(socket: Socket): void {
    this.#active.delete(socket);
    if (this.#active.size === 0) this.#onNone?.();
  }

  #finished(socket: Socket): void {
    const requests = (this.#active.get(socket) ?? 1) - 1;
    if (this.#active.has(socket)) this.#active.set(socket, requests);
    if (this.#isDraining && requests === 0) socket.destroySoon();
  }
}
