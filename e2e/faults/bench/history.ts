import { type Dispatcher, request } from 'undici';

/** A request of a client, with the outcome that it knows. */
export interface Call {
  /** Milliseconds since 1970. */
  at: number;
  ms: number;
  method: string;
  path: string;
  /**
   * `ok`: 2xx, so it must be true. `refused`: 4xx, or 503 with Retry-After, so nothing happened. `failed`: an answer
   * that must never be given. `unknown`: the connection broke, so it may have happened or not.
   */
  outcome: 'ok' | 'refused' | 'failed' | 'unknown';
  status?: number;
  body?: unknown;
  error?: string;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

/** Keeps the calls of all clients of a goal, for the checks afterwards. */
export class History {
  readonly calls: Call[] = [];

  /** Never rejects: a failure is the call's outcome. */
  async call(method: string, url: string, options: CallOptions = {}): Promise<Call> {
    const { pathname, search } = new URL(url);
    const call: Call = { at: Date.now(), ms: 0, method, path: pathname + search, outcome: 'unknown' };
    this.calls.push(call);
    const begun = performance.now();
    try {
      // `fetch` takes several times as long: the sender of a storm must not slow it down.
      const response = await request(url, {
        method: method as Dispatcher.HttpMethod,
        headers: { ...(options.body !== undefined && { 'content-type': 'application/json' }), ...options.headers },
        body: options.body === undefined ? null : JSON.stringify(options.body),
        signal: AbortSignal.timeout(options.timeoutMs ?? 60_000),
      });
      const text = await response.body.text();
      call.status = response.statusCode;
      call.body = parsed(text);
      call.outcome = outcomeOf(response);
    } catch (error) {
      call.error = describe(error);
    }
    call.ms = performance.now() - begun;
    return call;
  }

  /** Returns answers that break the promise: 5xx other than 503, and 503 without Retry-After. */
  failures(): Call[] {
    return this.calls.filter((call) => call.outcome === 'failed');
  }

  /** Returns calls that took longer than the limit, answered or not. */
  slowerThan(ms: number): Call[] {
    return this.calls.filter((call) => call.ms > ms);
  }
}

function outcomeOf({ statusCode, headers }: Dispatcher.ResponseData): Call['outcome'] {
  if (statusCode >= 200 && statusCode < 300) return 'ok';
  if (statusCode === 503) return headers['retry-after'] === undefined ? 'failed' : 'refused';
  return statusCode < 500 ? 'refused' : 'failed';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function describe(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
