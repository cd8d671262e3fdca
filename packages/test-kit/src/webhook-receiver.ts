import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from './wait-for.ts';

export interface ReceivedWebhook {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  body: any;
}

/** An answer of the receiver. `never`: the connection stays open without one. */
type Answer = { status: number; headers?: Record<string, string> } | 'never';

/** Receives webhooks on 127.0.0.1, each path separately, and answers 204 by default. Keeps no process alive. */
export class WebhookReceiver {
  readonly #server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const path = req.url ?? '';
    this.#received.push({ path, headers: req.headers, text, body: JSON.parse(text) });
    const answer = this.#answers.get(path)?.shift() ?? { status: 204 };
    if (answer !== 'never') res.writeHead(answer.status, answer.headers).end();
  });
  readonly #received: ReceivedWebhook[] = [];
  readonly #answers = new Map<string, Answer[]>();

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#server.unref();
    return this;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Sets the next answers on the path, one per request. */
  answer(path: string, ...answers: Answer[]): void {
    this.#answers.set(path, answers);
  }

  at(path: string): ReceivedWebhook[] {
    return this.#received.filter((received) => received.path === path);
  }

  /** Returns all webhooks of the path, as soon as there are `count`. */
  async received(path: string, count = 1): Promise<ReceivedWebhook[]> {
    return waitFor(() => (this.at(path).length >= count ? this.at(path) : undefined), {
      what: `${count} webhooks at ${path}`,
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
