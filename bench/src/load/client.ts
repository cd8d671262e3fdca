import { Agent, type IncomingMessage, request } from 'node:http';

/** A server under load, with the headers that it requires. */
export interface Endpoint {
  url: string;
  headers: Record<string, string>;
}

/**
 * A minimal client, since it shares the machine with what it measures: plain HTTP on connections that stay open, and
 * bodies that are parsed only on request.
 */
export class Client {
  readonly #endpoint: Endpoint;
  readonly #agent: Agent;

  constructor(endpoint: Endpoint, connections: number) {
    this.#endpoint = endpoint;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Resolves with the head of the answer. @throws Error with status and body unless the status is 2xx */
  post(path: string, body: unknown): Promise<IncomingMessage> {
    return this.#send('POST', path, JSON.stringify(body));
  }

  /** Like `post`. */
  get(path: string): Promise<IncomingMessage> {
    return this.#send('GET', path);
  }

  async #send(method: string, path: string, text?: string): Promise<IncomingMessage> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(this.#endpoint.url + path, {
        method,
        agent: this.#agent,
        headers: {
          ...this.#endpoint.headers,
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
          }),
        },
      });
      outgoing.on('response', resolve).on('error', reject).end(text);
    });
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    throw new Error(`${path} answered ${status}: ${(await readBody(answer)).slice(0, 300)}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}

export async function readBody(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
