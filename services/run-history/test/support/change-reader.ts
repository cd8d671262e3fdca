import type { PrincipalClaims, RunsChanged } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import type { TestHistory } from './history.ts';

interface ReadEvent {
  event: string;
  data: object;
  /** Milliseconds of `performance.now()`. */
  at: number;
}

/** Reads a stream of hints until it is closed. */
export class ChangeReader {
  readonly events: ReadEvent[] = [];
  heartbeats = 0;
  /** True when the service has ended the stream in order. */
  hasEnded = false;
  readonly contentType: string | null;
  readonly #leaving: AbortController;

  private constructor(answer: Response, leaving: AbortController) {
    this.contentType = answer.headers.get('content-type');
    this.#leaving = leaving;
    // A test that waits for something says what is missing.
    void this.#read(answer.body!).catch(() => undefined);
  }

  /** Opens a stream, and waits until it listens. */
  static async open(
    history: TestHistory,
    { query = '', as = {} }: { query?: string; as?: Partial<PrincipalClaims> } = {},
  ): Promise<ChangeReader> {
    const leaving = new AbortController();
    const answer = await fetch(`${history.service.url}/v2/runs/changes${query}`, {
      headers: await history.callers.headers({ permissions: ['runs:read'], ...as }),
      signal: leaving.signal,
    });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    const reader = new ChangeReader(answer, leaving);
    await waitFor(() => reader.events.length > 0);
    return reader;
  }

  /** The hints so far. */
  get hints(): ReadEvent[] {
    return this.events.filter(({ event }) => event === 'runs_changed');
  }

  /** The deployments that hints have named, each once. */
  get named(): string[] {
    return [...new Set(this.hints.flatMap(({ data }) => (data as RunsChanged).deployment_ids))];
  }

  waitForHint(deploymentId: string): Promise<unknown> {
    return waitFor(() => this.named.includes(deploymentId), { what: `a hint of ${deploymentId}` });
  }

  leave(): void {
    this.#leaving.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      const messages = (text + decoder.decode(chunk, { stream: true })).split('\r\n\r\n');
      text = messages.pop()!;
      for (const message of messages) this.#take(message);
    }
    this.hasEnded = true;
  }

  #take(message: string): void {
    if (message === ': heartbeat') {
      this.heartbeats += 1;
      return;
    }
    const [, event, data] = /^event: (.*)\r\ndata: (.*)$/.exec(message)!;
    this.events.push({ event: event!, data: JSON.parse(data!), at: performance.now() });
  }
}
