import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inject } from 'vitest';
import { Canaries } from './canaries.ts';

export interface CallerAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: operations of every kind are asked.
  body: any;
}

export interface SentRequest {
  headers?: Record<string, string>;
  /** A text goes unchanged, everything else as JSON. */
  body?: unknown;
  /** Default: the platform's key; null for none. */
  key?: string | null;
}

/** Sends requests with secrets to the platform, and keeps every error that it gets. */
export class Caller {
  readonly canaries = new Canaries();
  /** All answers of at least 400. */
  readonly errors: { request: string; text: string }[] = [];

  /** The trace of all requests, which is sampled. */
  readonly traceId = randomUUID().replaceAll('-', '');
  /** Ids of deployments that are deleted in the end. */
  readonly deployments: string[] = [];

  /** @param target a path of the platform, or a whole URL */
  async ask(method: string, target: string, { headers = {}, body, key }: SentRequest = {}): Promise<CallerAnswer> {
    const { url, apiKey } = inject('platform');
    const sentKey = key === undefined ? apiKey : key;
    const response = await fetch(target.startsWith('http') ? target : url + target, {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        traceparent: `00-${this.traceId}-${'c'.repeat(16)}-01`,
        ...(sentKey && { 'x-api-key': sentKey }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 400) this.errors.push({ request: `${method} ${target.split('?', 1)[0]}`, text });
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson && text ? JSON.parse(text) : text };
  }

  /** Sends a request that must succeed. Returns the answer's body. */
  async make(method: string, target: string, body?: unknown): Promise<CallerAnswer['body']> {
    const answer = await this.ask(method, target, { body });
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Returns headers in which clients send secrets, each with one of its own. */
  secretHeaders(place: string): Record<string, string> {
    const { canaries } = this;
    const basic = Buffer.from(`ada:${canaries.make(`${place}: Proxy-Authorization`)}`).toString('base64');
    return {
      authorization: `Bearer ${canaries.make(`${place}: Authorization`)}`,
      cookie: `session=${canaries.make(`${place}: Cookie`)}`,
      'proxy-authorization': `Basic ${basic}`,
      'x-auth-token': canaries.make(`${place}: a header of the caller’s own`),
    };
  }
}

/** Starts an outside server that fails, and repeats everything that it got. */
export async function startEchoServer(): Promise<{ url: string; requests(): number; close(): void }> {
  let requests = 0;
  const server = createServer(async (req, res) => {
    requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const sent = { url: req.url, headers: req.headers, body: Buffer.concat(chunks).toString('utf8') };
    const body = { error: 'invalid_grant', error_description: JSON.stringify(sent), sent };
    res.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
