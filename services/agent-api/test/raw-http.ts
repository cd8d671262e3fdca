import { request as httpRequest, type IncomingMessage } from 'node:http';
import { waitFor } from '@runyard/test-kit';

/** An answer in flight, as the bytes that have arrived so far. */
export class RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly complete: Promise<string>;
  #text = '';
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    message.setEncoding('utf8');
    message.on('data', (chunk: string) => {
      this.#text += chunk;
    });
    this.complete = new Promise((resolve, reject) => {
      message.on('end', () => resolve(this.#text));
      message.on('error', reject);
    });
    this.complete.catch(() => undefined);
  }

  get text(): string {
    return this.#text;
  }

  /** The trailers that came after the end. */
  get trailers(): IncomingMessage['trailers'] {
    return this.#message.trailers;
  }

  /** Waits until the text so far contains `part`. */
  async until(part: string): Promise<string> {
    await waitFor(() => this.#text.includes(part), { what: `${JSON.stringify(part)} in the answer` });
    return this.#text;
  }

  /** Stops reading until `readOn`. */
  stopReading(): void {
    this.#message.pause();
  }

  readOn(): void {
    this.#message.resume();
  }

  /** Disconnects the client. */
  hangUp(): void {
    this.#message.destroy();
  }
}

/** Resolves with the headers; the body is read as it comes. */
export function open(
  url: string,
  options: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<RawAnswer> {
  const { method = options.body === undefined ? 'GET' : 'POST', body, headers } = options;
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (message) => resolve(new RawAnswer(message)));
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Does the same for an answer that ends by itself. */
export async function ask(
  url: string,
  options: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: IncomingMessage['headers']; text: string; json: unknown }> {
  const answer = await open(url, options);
  const text = await answer.complete;
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    get json(): unknown {
      return JSON.parse(text);
    },
  };
}

/** Returns `[event, data]` of every event in the text of a stream. */
export function eventsIn(text: string): [string, unknown][] {
  return [...text.matchAll(/event: (.*)\r\ndata: (.*)\r\n/g)].map(([, event, data]) => [event!, JSON.parse(data!)]);
}
