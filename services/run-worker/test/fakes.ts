import { randomUUID } from 'node:crypto';
import type { ExecutionOutcome, GraphHost, RunHandlers } from '@runyard/host-client';
import type { ExecutionRequest } from '@runyard/host-protocol';
import type { ClaimedRun } from '@runyard/run-engine';
import type { AppendEvent, AppendOptions, StreamFence } from '@runyard/run-stream';
import { createLogger, Metrics } from '@runyard/service-kit';
import { WorkerMetrics } from '../src/worker-metrics.ts';

export const quietLogger = createLogger({ level: 'silent', json: false, service: 'test' });

export function workerMetrics(): WorkerMetrics {
  return new WorkerMetrics(new Metrics());
}

export function claimedRun(overrides: Partial<ClaimedRun> = {}): ClaimedRun {
  const [runId, threadId] = [randomUUID(), randomUUID()];
  return {
    runId,
    threadId,
    assistantId: randomUUID(),
    attempt: 1,
    keepsThread: true,
    isThreadNew: false,
    metadata: {},
    kwargs: {
      input: {},
      config: { configurable: { graph_id: 'agent' } },
      stream_mode: ['values'],
      temporary: false,
      subgraphs: false,
      resumable: false,
      durability: 'async',
    },
    fence: { threadId, epoch: 7n, runId },
    isQuarantined: false,
    lostForMs: null,
    createdAt: new Date(),
    ...overrides,
  };
}

/** A run in a fake host, settled by the test. */
export interface FakeRun {
  request: ExecutionRequest;
  handlers: RunHandlers;
  aborts: string[];
  drains: number;
  settle(outcome: ExecutionOutcome): void;
  /** Ends the run's code; any outcome but `fenced` does so by itself. */
  stop(): void;
}

export class FakeHost {
  readonly runs: FakeRun[] = [];
  closedWith: number | undefined;
  ping: () => Promise<void> = () => Promise.resolve();
  beats: () => number | undefined = () => undefined;

  readonly host = {
    startRun: (request: ExecutionRequest, _backends: unknown, handlers: RunHandlers) => {
      let settle!: (outcome: ExecutionOutcome) => void;
      const settled = new Promise<ExecutionOutcome>((resolve) => {
        settle = resolve;
      });
      let stop!: () => void;
      const stopped = new Promise<void>((resolve) => {
        stop = resolve;
      });
      const run: FakeRun = { request, handlers, aborts: [], drains: 0, settle, stop };
      void settled.then(({ kind }) => kind !== 'fenced' && stop());
      this.runs.push(run);
      return {
        settled,
        stopped,
        abort: (reason: string) => void run.aborts.push(reason),
        drain: () => {
          run.drains += 1;
        },
      };
    },
    ping: () => this.ping(),
    beats: () => this.beats(),
    kill: async () => {
      this.closedWith = 0;
    },
    close: async (graceMs: number) => {
      this.closedWith = graceMs;
    },
  } as unknown as GraphHost;
}

/** Fakes streams that remember what was appended, and do what the test says. */
export class FakeStreams {
  readonly appended: { fence: StreamFence; events: AppendEvent[]; options: AppendOptions }[] = [];
  /** Called before each append, which fails when this rejects. */
  before: (fence: StreamFence) => Promise<void> = () => Promise.resolve();
  /** The position that the stream remembers of any run. */
  position: number | undefined;

  async append(fence: StreamFence, events: AppendEvent[], options: AppendOptions): Promise<string[]> {
    await this.before(fence);
    this.appended.push({ fence, events, options });
    return events.map((_, index) => `${this.appended.length}-${index}`);
  }

  async newestPosition(): Promise<number | undefined> {
    return this.position;
  }

  kinds(): string[] {
    return this.appended.flatMap(({ events }) => events.map(({ kind }) => kind));
  }
}

/** Lets everything that is ready run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
