import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Random } from './random.ts';

/** Frames of Postgres' protocol: a client's goodbye, and the end of the answer to a call. */
const TERMINATE = 0x58;
const READY_FOR_QUERY = 0x5a;

export interface StoreFaultOptions {
  /**
   * The share of calls that fail while faults are on; half of them before they are forwarded, half after they took
   * effect.
   */
  rate: number;
  random: Random;
}

/**
 * A fault line to Postgres that knows what a call is: everything a client sends up to the point where it waits for an
 * answer, be it one statement, a prepared one, or a COMMIT. A failing call is cut off with a reset, either before any
 * of it was forwarded, or after the server has executed it and before the client gets any of the answer.
 */
export class StoreFaults {
  readonly counts = { calls: 0, before: 0, after: 0 };
  isOn = false;
  readonly #target: URL;
  readonly #options: StoreFaultOptions;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(target: URL, options: StoreFaultOptions) {
    this.#target = target;
    this.#options = options;
    this.#server = createServer((client) => this.#connect(client));
  }

  /** @param target the URL of the database */
  static async to(target: string, options: StoreFaultOptions): Promise<StoreFaults> {
    const line = new StoreFaults(new URL(target), options);
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  /** The database's URL through this line. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #connect(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const connection = new Connection(client, server, () => this.#fate());
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      // This line exists to reset either side; the other one follows.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        connection.cut();
      });
    }
  }

  #fate(): Fate {
    if (!this.isOn) return 'fine';
    const { rate, random } = this.#options;
    this.counts.calls += 1;
    if (!random.chance(rate)) return 'fine';
    const fate = random.chance(0.5) ? 'before' : 'after';
    this.counts[fate] += 1;
    return fate;
  }
}

type Fate = 'fine' | 'before' | 'after';

/** One connection with its alternation of calls and answers. */
class Connection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #decide: () => Fate;
  readonly #answers = new Frames();
  /** The fate of the call in flight; undefined while the client may begin another. The login never fails. */
  #fate: Fate | undefined = 'fine';
  #isLoggedIn = false;

  constructor(client: Socket, server: Socket, decide: () => Fate) {
    this.#client = client;
    this.#server = server;
    this.#decide = decide;
    client.on('data', (chunk) => this.#ask(chunk));
    server.on('data', (chunk) => this.#answer(chunk));
    client.on('end', () => server.end());
    server.on('end', () => client.end());
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.destroy();
  }

  #ask(chunk: Buffer): void {
    if (this.#isLoggedIn) {
      if (this.#fate === undefined && chunk[0] !== TERMINATE) this.#fate = this.#decide();
      if (this.#fate === 'before') {
        this.cut();
        return;
      }
    }
    pass(chunk, this.#client, this.#server);
  }

  #answer(chunk: Buffer): void {
    const isReady = this.#answers.read(chunk).includes(READY_FOR_QUERY);
    if (this.#fate === 'after') {
      if (isReady) this.cut();
      return;
    }
    if (isReady) {
      this.#isLoggedIn = true;
      this.#fate = undefined;
    }
    pass(chunk, this.#server, this.#client);
  }
}

/** Finds the frames in a stream of bytes: a type of one byte, a length of four that counts itself, a body. */
class Frames {
  #header = Buffer.alloc(0);
  #bodyLeft = 0;

  /** Returns the types of the frames that begin in the chunk. */
  read(chunk: Buffer): number[] {
    const types: number[] = [];
    let at = 0;
    while (at < chunk.length) {
      const wanted = this.#bodyLeft > 0 ? this.#bodyLeft : 5 - this.#header.length;
      const taken = Math.min(wanted, chunk.length - at);
      if (this.#bodyLeft > 0) this.#bodyLeft -= taken;
      else this.#header = Buffer.concat([this.#header, chunk.subarray(at, at + taken)]);
      at += taken;
      if (this.#header.length < 5) continue;
      types.push(this.#header[0] as number);
      this.#bodyLeft = this.#header.readInt32BE(1) - 4;
      this.#header = Buffer.alloc(0);
    }
    return types;
  }
}

function pass(chunk: Buffer, from: Socket, to: Socket): void {
  if (to.write(chunk)) return;
  from.pause();
  to.once('drain', () => from.resume());
}
