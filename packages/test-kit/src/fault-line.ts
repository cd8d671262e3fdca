import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** From the client to the server, the other way, or both. */
export type Direction = 'up' | 'down' | 'both';

export interface Slowness {
  /** What each piece of data waits before it is passed on. */
  latencyMs?: number;
  /** Of each connection and direction. */
  bytesPerSecond?: number;
}

/** Pieces per second in which a narrow line passes data on. */
const PIECES_PER_SECOND = 20;

/**
 * A line between a client and a server over TCP, on which everything can happen that happens to networks. Whoever is to
 * feel the faults is given `url` in place of the server's.
 */
export class FaultLine {
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #swallowed = { up: false, down: false };
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

  /** The server's URL by way of this line. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  get openConnections(): number {
    return this.#sockets.size / 2;
  }

  /** Ends all connections and refuses new ones, as a machine without the server does. */
  async refuse(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    this.reset();
    await closed;
  }

  /** Cuts all connections with a reset; new ones work. */
  reset(): void {
    for (const socket of this.#sockets) cut(socket);
  }

  /** A black hole: bytes are taken and none passed on, neither an end nor a reset is heard of. One way makes it half open. */
  swallow(direction: Direction = 'both'): void {
    for (const way of ['up', 'down'] as const) {
      if (direction === 'both' || direction === way) this.#swallowed[way] = true;
    }
  }

  slow(slowness: Slowness): void {
    this.#slowness = slowness;
  }

  /** Works again. What was swallowed arrives late on connections that are still there, as TCP sends it again. */
  async heal(): Promise<void> {
    this.#slowness = {};
    this.#swallowed.up = false;
    this.#swallowed.down = false;
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
    // While it refuses, nobody else is to be given its port.
    this.#port ||= await freePort();
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  /** One direction of a connection; reads on only when what it read was passed on, so that no line holds much. */
  async #pass(from: Socket, to: Socket, way: 'up' | 'down'): Promise<void> {
    this.#sockets.add(from);
    from.setNoDelay(true);
    // Told by the iteration below; a socket that fails before or after that must not end the process.
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
    while (this.#swallowed[way]) await new Promise<void>((resolve) => this.#healed.push(resolve));
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

/** With a reset; a socket that has said goodbye already cannot send one, and would stay open if it were asked to. */
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
