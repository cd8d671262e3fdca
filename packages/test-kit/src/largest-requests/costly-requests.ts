import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Operation } from '@runyard/contracts';
import { emptyRequest, type LargestRequest, largestRequests } from './requests.ts';

export interface CostlyRequestsOptions {
  /** The base URL of the service. */
  url: string;
  operations: readonly Operation[];
  /** Milliseconds of processor time that a request may take more than an empty one of its operation. */
  boundMs: number;
  /** Headers for the service's own `/metrics`. */
  metricsHeaders?: Record<string, string>;
}

/** The service closed the connection before the request had ended. */
const CLOSED = 0;
/** The answer has more headers than Node.js, and the gateway, read. */
const TOO_LARGE_HEAD = -1;

/**
 * Sends each operation the largest requests that anybody may send it. Returns those that take more of the service's
 * processor time than an empty one and the bound, or that fail in it. Wall time says nothing on a busy machine.
 */
export async function findCostlyRequests(options: CostlyRequestsOptions): Promise<string[]> {
  const found: string[] = [];
  const service = new MeasuredService(options);
  try {
    for (const [index, each] of options.operations.entries())
      found.push(...(await service.findCostly(each, largestRequests(each, index))));
  } finally {
    service.close();
  }
  return found;
}

class MeasuredService {
  readonly #options: CostlyRequestsOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(options: CostlyRequestsOptions) {
    this.#options = options;
  }

  close(): void {
    this.#agent.destroy();
  }

  async findCostly(operation: Operation, requests: LargestRequest[]): Promise<string[]> {
    const { boundMs } = this.#options;
    const failures: string[] = [];
    const costMs = await this.#measure(async () => {
      for (const each of requests) {
        const status = await this.#send(each);
        if (status >= 500) failures.push(`${operation.operationId}, ${each.name}: ${status}`);
        if (status === TOO_LARGE_HEAD)
          failures.push(`${operation.operationId}, ${each.name}: the answer's head is too large`);
      }
    });
    // Usually all of them together are within the bound of one.
    if (costMs <= boundMs) return failures;
    const empty = emptyRequest(operation);
    const emptyMs = await this.#measure(() => this.#send(empty));
    for (const each of requests) {
      const send = () => this.#send(each);
      let ofOneMs = (await this.#measure(send)) - emptyMs;
      // The service may have done something else meanwhile.
      if (ofOneMs > boundMs) ofOneMs = Math.min(ofOneMs, (await this.#measure(send)) - emptyMs);
      if (ofOneMs > boundMs) failures.push(`${operation.operationId}, ${each.name}: ${Math.round(ofOneMs)} ms`);
    }
    return failures;
  }

  /** Returns the processor time that the service took meanwhile. */
  async #measure(act: () => Promise<unknown>): Promise<number> {
    const before = await this.#processorMs();
    await act();
    return (await this.#processorMs()) - before;
  }

  async #processorMs(): Promise<number> {
    const { url, metricsHeaders = {} } = this.#options;
    const answer = await fetch(`${url}/metrics`, { headers: metricsHeaders });
    const text = await answer.text();
    const seconds = /^process_cpu_seconds_total(?:\{.*\})? (\S+)/m.exec(text)?.[1];
    if (seconds === undefined)
      throw new Error(`/metrics has no processor time: ${answer.status} ${text.slice(0, 200)}`);
    return Number(seconds) * 1000;
  }

  /** Returns the status of the answer, or what came in its place. */
  async #send({ method, path, headers, body }: LargestRequest): Promise<number> {
    const req = request(this.#options.url + path, { method, headers, agent: this.#agent });
    // A connection that the service closed may fail twice.
    req.on('error', () => undefined).end(body);
    try {
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      for await (const _ of res);
      return res.statusCode!;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'HPE_HEADER_OVERFLOW') return TOO_LARGE_HEAD;
      if (['ECONNRESET', 'EPIPE'].includes(code)) return CLOSED;
      throw error;
    }
  }
}
