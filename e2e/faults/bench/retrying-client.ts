import { setTimeout as pause } from 'node:timers/promises';
import { FaultLine } from '@runyard/test-kit';
import type { BenchDeployment } from './deployment.ts';
import type { Call } from './history.ts';
import type { Random } from './random.ts';

/** A request that is repeated with one key. */
export interface RetriedRequest {
  path: string;
  body: unknown;
  key: string;
}

/** Concurrent requests of one client. */
const AT_ONCE = 4;
/**
 * The longest life of a connection after its request was sent, in milliseconds: often too short for any answer,
 * sometimes long enough.
 */
const CUT_AFTER_MS_MAX = 60;

/**
 * A client over fault lines of its own that break after it has sent a request, and that sends it again, to any
 * agent-api.
 */
export class RetryingClient {
  readonly #deployment: BenchDeployment;
  readonly #lines: FaultLine[];
  readonly #random: Random;

  private constructor(deployment: BenchDeployment, lines: FaultLine[], random: Random) {
    this.#deployment = deployment;
    this.#lines = lines;
    this.#random = random;
  }

  static async open(deployment: BenchDeployment, random: Random): Promise<RetryingClient> {
    const lines = await Promise.all(deployment.agentApis.map(({ url }) => FaultLine.to(url)));
    return new RetryingClient(deployment, lines, random);
  }

  /** Sends the request so many times over connections that are cut. Returns the outcome of each. */
  async insist(request: RetriedRequest, times: number): Promise<Call[]> {
    const calls: Call[] = [];
    while (calls.length < times) {
      const line = this.#random.pick(this.#lines);
      const count = Math.min(this.#random.integer(1, AT_ONCE), times - calls.length);
      const sent = Array.from({ length: count }, () => this.#send(line, request));
      await pause(this.#random.integer(1, CUT_AFTER_MS_MAX));
      line.reset();
      calls.push(...(await Promise.all(sent)));
    }
    return calls;
  }

  /** Sends it over whole connections to each agent-api, until that one answers. */
  async settle(request: RetriedRequest): Promise<Call[]> {
    return Promise.all(
      this.#lines.map(async (line) => {
        for (;;) {
          const call = await this.#send(line, request);
          if (call.outcome === 'ok' || call.outcome === 'failed') return call;
          await pause(200);
        }
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.close()));
  }

  #send(line: FaultLine, { path, body, key }: RetriedRequest): Promise<Call> {
    const headers = { 'idempotency-key': key };
    return this.#deployment.history.call('POST', new URL(path, line.url).href, { body, headers });
  }
}
