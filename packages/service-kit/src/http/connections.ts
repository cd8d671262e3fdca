import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes a server without cutting requests off. Node's own `closeIdleConnections` leaves those open that never sent a
 * request, and browsers and clients open such ones ahead of need.
 */
export class Connections {
  readonly #server: Server;
  /** Requests in flight per connection. */
  readonly #active = new Map<Socket, number>();
  #draining = false;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#active.set(socket, 0);
      socket.once('close', () => this.#active.delete(socket));
    });
    server.on('request', ({ socket }, res) => {
      this.#active.set(socket, (this.#active.get(socket) ?? 0) + 1);
      res.once('close', () => this.#finished(socket));
    });
    // From here on the connection belongs to whoever handles the upgrade.
    server.on('upgrade', ({ socket }) => this.#active.delete(socket));
  }

  /** Resolves when all connections are closed; those still at work after `drainMs` are cut. */
  async drain(drainMs: number): Promise<void> {
    this.#draining = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const [socket, requests] of this.#active) if (requests === 0) socket.destroySoon();
    const cut = setTimeout(() => {
      for (const socket of this.#active.keys()) socket.destroy();
    }, drainMs);
    await closed;
    clearTimeout(cut);
  }

  #finished(socket: Socket): void {
    const requests = (this.#active.get(socket) ?? 1) - 1;
    if (this.#active.has(socket)) this.#active.set(socket, requests);
    if (this.#draining && requests === 0) socket.destroySoon();
  }
}
