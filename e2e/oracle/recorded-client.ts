/** One server of the two, of which every answer is kept. */
export interface Answer {
  /** The request, as `POST /threads`. */
  request: string;
  status: number;
  /** The parsed body, or the events of a stream. */
  body: unknown;
}

interface StreamEvent {
  event: string;
  data: unknown;
}

export class RecordedClient {
  readonly answers: Answer[] = [];
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor({ url, headers = {} }: { url: string; headers?: Record<string, string> }) {
    this.#url = url;
    this.#headers = { 'content-type': 'application/json', ...headers };
  }

  /** Sends a request and keeps its answer. @returns the body */
  // biome-ignore lint/suspicious/noExplicitAny: scenarios look into answers of every operation.
  async send(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.#ask(method, path, body);
    const text = await answer.text();
    const type = answer.headers.get('content-type') ?? '';
    const value = type.startsWith('text/event-stream') ? readEvents(text) : text === '' ? null : parse(text);
    this.answers.push({ request: `${method} ${path}`, status: answer.status, body: value });
    return value;
  }

  /** Sends a request until `isIt` holds for its body, and keeps that answer alone. */
  // biome-ignore lint/suspicious/noExplicitAny: scenarios look into answers of every operation.
  async until(path: string, isIt: (body: any) => boolean): Promise<any> {
    const deadline = Date.now() + 30_000;
    for (;;) {
      const answer = await this.#ask('GET', path);
      const body = await answer.json();
      if (isIt(body) || Date.now() > deadline) {
        this.answers.push({ request: `GET ${path}`, status: answer.status, body });
        return body;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  #ask(method: string, path: string, body?: unknown): Promise<Response> {
    const init = { method, headers: this.#headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return fetch(this.#url + path, init);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Reads a whole stream. Heartbeats are left out. */
function readEvents(text: string): StreamEvent[] {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .flatMap((block) => {
      const fields = block.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1).trim()]);
      const event = fields.find(([name]) => name === 'event')?.[1];
      if (event === undefined) return [];
      const data = fields.filter(([name]) => name === 'data').map(([, value]) => value);
      return [{ event, data: parse(data.join('\n')) }];
    });
}
