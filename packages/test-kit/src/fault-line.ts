import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** The direction from the client to the server (`up`), the other one, or both. */
export type Direction = 'up' | 'down' | 'both';

export interface Slowness {
  /** Milliseconds that each piece of data waits before it is passed on. */
  latencyMs?: number;
  /** Limit per connection and direction. */
  bytesPerSecond?: number;
}

/** Pieces per second in which a slow line passes data on. */
const PIECES_PER_SECOND = 20;

/**
 * A TCP line between a client and a server that simulates network faults. Clients that should see the faults use `url`
 * instead of the server's.
 */
export class FaultLine {
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #isPartitioned = { up: false, down: false };
  #slowness: Slowness = {};
  #healed: (() => void)[] = [];
  #server: Server | undefined;
  #port = 0;

  private constructor(target: URL) {
    this.#target = target;
  }

  /** @param target URL of the server, with its port */
  static async to(target: string): Promise<FaultLine> {
    const line = new FaultLine(new URL(target));
    await line.#listen();
    return line;
  }

  /** The server's URL through this line. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  get openConnections(): number {
    return this.#sockets.size / 2;
  }

  /** Ends all connections and refuses new ones, like a machine without the server. */
  async refuse(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    this.reset();
    await closed;
  }

  /** Resets all connections; new ones work. */
  reset(): void {
    for (const socket of this.#sockets) cut(socket);
  }

  /**
   * Simulates a partition: bytes are accepted and not passed on, and neither side sees an end or a reset. In one
   * direction, it makes connections half open.
   */
  partition(direction: Direction = 'both'): void {
    for (const way of ['up', 'down'] as const) {
      if (direction === 'both' || direction === way) this.#isPartitioned[way] = true;
    }
  }

  slow(slowness: Slowness): void {
    this.#slowness = slowness;
  }

  /** Works again. Swallowed data arrives late on connections that still exist, because TCP retransmits it. */
  async heal(): Promise<void> {
    this.#slowness = {};
    this.#isPartitioned.up = false;
    this.#isPartitioned.down = false;
    for (const resolve of this.#healed.splice(0)) resolve();
    if (!this.#server) await this.#listen();
  }

  async close(): Promise<void> {
    await this.refuse();
    for (const resolve of this.#healed.splice(0)) resolve();
  }

  async #listen(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const upstream = connect({
        port: Number(this.#target.port),
        host: this.#target.hostname,
        allowHalfOpen: true,
      });
      void this.#pass(client, upstream, 'up');
      void this.#pass(upstream, client, 'down');
    });
    // While the line refuses, no other process must be given its port.
    this.#port ||= await freePort();
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  /**
   * Passes one direction of a connection; reads on only when the previous data was passed on, so that no line holds
   * much.
   */
  async #pass(from: Socket, to: Socket, way: 'up' | 'down'): Promise<void> {
    this.#sockets.add(from);
    from.setNoDelay(true);
    // The iteration below reports errors; a socket that fails before or after it must not end the process.
    from.on('error', () => undefined);
    from.once('close', () => this.#sockets.delete(from));
    try {
      for await (const chunk of from.iterator({ destroyOnReturn: false })) {
        await this.#untilPassing(way);
        await this.#deliver(chunk as Buffer, to);
      }
      await this.#untilPassing(way);
      to.end();
    } catch {
      await this.#untilPassing(way);
      from.destroy();
      cut(to);
    }
  }

  async #untilPassing(way: 'up' | 'down'): Promise<void> {
    while (this.#isPartitioned[way]) await new Promise<void>((resolve) => this.#healed.push(resolve));
  }

  async #deliver(chunk: Buffer, to: Socket): Promise<void> {
    const { latencyMs, bytesPerSecond } = this.#slowness;
    if (latencyMs) await pause(latencyMs);
    if (!bytesPerSecond) return written(to, chunk);
    const size = Math.max(1, Math.floor(bytesPerSecond / PIECES_PER_SECOND));
    for (let at = 0; at < chunk.byteLength; at += size) {
      await written(to, chunk.subarray(at, at + size));
      if (this.#slowness.bytesPerSecond) await pause(1000 / PIECES_PER_SECOND);
    }
  }
}

/** Resets a socket. One that has sent its end cannot be reset, and would stay open. */
function cut(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

async function written(socket: Socket, chunk: Buffer): Promise<void> {
  if (socket.destroyed) throw new Error('the other side is gone');
  if (socket.write(chunk)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      socket.off('drain', go).off('close', go);
      resolve();
    };
    socket.on('drain', go).on('close', go);
  });
}
