import { Client } from '@langchain/langgraph-sdk';
import type { BenchRun } from './deployment.ts';
import type { StreamClientsOptions } from './stream-clients.ts';
import { StreamUnion } from './stream-union.ts';

/** A stream that the SDK read to its end. */
export interface SdkStream {
  run: BenchRun;
  union: StreamUnion;
  /** True when the SDK reconnected before it had any event, and so could not send its position. */
  hasLostItsPlace: boolean;
}

/** Clients of the official SDK that stream one run after another, and whose connections break at random. */
export class SdkStreams {
  readonly streamed: SdkStream[] = [];
  readonly faults: string[] = [];
  /** The number of times the SDK reconnected by itself. */
  reconnects = 0;
  readonly #options: StreamClientsOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(clients: number, options: StreamClientsOptions) {
    this.#options = options;
    this.#running = Promise.all(Array.from({ length: clients }, () => this.#streamRuns()));
  }

  /** Resolves when everything begun has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #streamRuns(): Promise<void> {
    while (!this.#stopping.signal.aborted) await this.#streamOneRun();
  }

  async #streamOneRun(): Promise<void> {
    const { ledger, input, url, headers } = this.#options;
    const { assistant_id, ...payload } = ledger.runRequest(input);
    const thread = await new Client({ apiUrl: url, apiKey: null, defaultHeaders: headers }).threads
      .create()
      .catch(() => undefined);
    if (!thread) return;
    const threadId = thread.thread_id;
    const union = new StreamUnion();
    const connection = new BreakingFetch(this.#options);
    const client = new Client({
      apiUrl: url,
      apiKey: null,
      defaultHeaders: headers,
      callerOptions: { fetch: connection.fetch, maxRetries: 6 },
    });
    let runId: string | undefined;
    try {
      const stream = client.runs.stream(threadId, String(assistant_id), {
        ...payload,
        streamMode: ['custom', 'updates'],
        streamResumable: true,
        onDisconnect: 'continue',
        onRunCreated: (run: { run_id: string }) => {
          runId = run.run_id;
        },
      } as Parameters<typeof client.runs.stream>[2]);
      for await (const event of stream as AsyncIterable<{ id?: string; event: string }>) {
        // The SDK makes an event without a name, with the last one's id, from the empty line after a heartbeat.
        if (event.event !== '') union.add(event);
      }
    } catch (error) {
      // Before it knows of a run the SDK has nothing to resume.
      if (runId !== undefined && !isGivenUp(error)) {
        this.faults.push(`the SDK gave up the stream of ${runId}: ${(error as Error).message}`);
      }
      return;
    } finally {
      this.reconnects += connection.reconnects;
    }
    if (runId === undefined) return;
    const run = { runId, threadId, steps: input.steps };
    this.streamed.push({ run, union, hasLostItsPlace: connection.hasLostItsPlace });
  }
}

/** Returns whether the SDK gave up: it resumes a stream five times, however long the stream is. */
function isGivenUp(error: unknown): boolean {
  return (error as Error).name === 'MaxReconnectAttemptsError';
}

/** Wraps fetch so that event streams break off in the middle: each of the first two of a client, at random. */
class BreakingFetch {
  reconnects = 0;
  hasLostItsPlace = false;
  #breaks = 2;
  readonly #random: StreamClientsOptions['random'];

  constructor({ random }: StreamClientsOptions) {
    this.#random = random;
  }

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const isReconnect = (init?.method ?? 'GET') === 'GET' && /\/stream(\?|$)/.test(String(input));
    if (isReconnect) {
      this.reconnects += 1;
      if (!new Headers(init?.headers).has('last-event-id')) this.hasLostItsPlace = true;
    }
    const response = await fetch(input, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (!isStream || !response.body || this.#breaks === 0 || !this.#random.chance(0.7)) return response;
    this.#breaks -= 1;
    let left = this.#random.integer(500, 6_000);
    const breaking = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength;
        if (left < 0) controller.error(new TypeError('network connection lost'));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(breaking), { status, statusText, headers });
  };
}
