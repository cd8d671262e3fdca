import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface ReceivedTry {
  runId: string;
  /** The value of `webhook-id`. */
  id: string;
  /** The value of `webhook-timestamp`, in seconds. */
  timestamp: number;
  /** The value of `webhook_sent_at` in the body. */
  sentAt: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** The behaviour of a receiver, given the number of earlier tries of that delivery. */
export type Behaviour = (res: ServerResponse, earlierTries: number) => void | Promise<void>;

export const BEHAVIOURS = {
  good: (res) => void res.writeHead(204).end(),
  /** The first answer takes longer than a sender waits. */
  slow: async (res, earlier) => {
    if (earlier === 0) await pause(12_000, undefined, { ref: false });
    if (!res.destroyed) res.writeHead(204).end();
  },
  failing: (res, earlier) => void res.writeHead(earlier < 3 ? 500 : 204).end(),
  gone: (res) => void res.writeHead(410).end(),
  cutting: (res, earlier) => void (earlier < 2 ? res.destroy() : res.writeHead(204).end()),
} satisfies Record<string, Behaviour>;

/** A receiver of webhooks on a host (an address with a port) of its own. */
export class BenchReceiver {
  readonly tries: ReceivedTry[] = [];
  readonly #behaviour: Behaviour;
  readonly #server: Server;

  constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour;
    this.#server = createServer((req, res) => {
      this.#take(req, res).catch(() => res.destroy());
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  triesOf(runId: string): ReceivedTry[] {
    return this.tries.filter((each) => each.runId === runId);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const at = Date.now();
    const { run_id: runId, webhook_sent_at: sentAt } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const id = String(req.headers['webhook-id']);
    const earlier = this.tries.filter((each) => each.id === id).length;
    this.tries.push({ runId, id, timestamp: Number(req.headers['webhook-timestamp']), sentAt, at });
    await this.#behaviour(res, earlier);
  }
}
