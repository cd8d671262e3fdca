import { randomUUID } from 'node:crypto';
import { openDataCipher } from '@runyard/encryption';
import { type CancelOrder, type ClaimedRun, type ErrorInfo, RunEngine, WorkSignals } from '@runyard/run-engine';
import { appendEnd, CONTROL_KINDS, RunStreams } from '@runyard/run-stream';
import { waitFor } from '@runyard/test-kit';
import type pg from 'pg';

/** Fakes a worker without a graph: it takes runs when the test says so and emits what the test says. */
export class FakeWorker {
  readonly engine: RunEngine;
  readonly streams: RunStreams;
  readonly #signals: WorkSignals;
  readonly #workerId = randomUUID();
  #registered: Promise<void> | undefined;

  constructor(options: { pool: pg.Pool; redis: string; keyPrefix: string; aesKey?: string | undefined }) {
    const { pool, redis, keyPrefix, aesKey } = options;
    this.#signals = new WorkSignals({ redis, keyPrefix, topic: 'webhooks' });
    const cipher = openDataCipher({ aesKey });
    this.engine = new RunEngine({
      pool,
      deploymentId: 'test',
      source: '/test',
      leaseMs: 60_000,
      cipher,
      onWebhooksQueued: () => this.#signals.send(),
    });
    this.streams = new RunStreams({ redis, keyPrefix, cipher });
  }

  /** Takes the next run as soon as there is one, and opens its stream. */
  async take(): Promise<FakeRun> {
    this.#registered ??= this.register();
    await this.#registered;
    const claimed = await waitFor(async () => (await this.engine.claimRuns(this.#workerId, 1))[0], {
      what: 'a run to take',
    });
    const run = new FakeRun(this, claimed);
    await run.emit('metadata', { run_id: claimed.runId, attempt: claimed.attempt });
    return run;
  }

  /** Registers the worker, also after it was given up. */
  register(): Promise<void> {
    return this.engine.registerWorker({ workerId: this.#workerId, revisionId: 'any', slots: 100 });
  }

  /** Waits for the cancel order of a run. */
  async order(run: FakeRun): Promise<CancelOrder> {
    return waitFor(
      async () =>
        (await this.engine.renewLease(this.#workerId, [run.claimed.fence])).orders.find(
          (order) => order.runId === run.claimed.runId,
        ),
      { what: 'a cancel order' },
    );
  }

  async close(): Promise<void> {
    if (this.#registered) await this.engine.removeWorker(this.#workerId);
    await this.engine.close();
    await this.streams.close();
    this.#signals.close();
  }
}

export class FakeRun {
  readonly claimed: ClaimedRun;
  readonly #worker: FakeWorker;

  constructor(worker: FakeWorker, claimed: ClaimedRun) {
    this.#worker = worker;
    this.claimed = claimed;
  }

  /** Returns the event's id. */
  async emit(kind: string, data: unknown, event = kind): Promise<string> {
    const [id] = await this.emitTogether(kind, [data], event);
    return id!;
  }

  /** Appends events in one call, and so in one millisecond. Returns their ids. */
  emitTogether(kind: string, data: unknown[], event = kind): Promise<string[]> {
    const { runId, attempt, fence } = this.claimed;
    const events = data.map((each) => ({ runId, attempt, kind, event, data: JSON.stringify(each) }));
    return this.#worker.streams.append(fence, events, { resumable: this.#isResumable });
  }

  async succeed(values: unknown): Promise<void> {
    await this.finishUnpublished('success', values, null);
    await this.publishEnd(`{"status":"success","values":${JSON.stringify(values)}}`);
  }

  /** Ends the run at an interrupt, whose answer the thread then waits for. */
  async ask(values: Record<string, unknown>, interrupts: { id: string; value: unknown }[]): Promise<void> {
    const { fence, runId } = this.claimed;
    await this.#worker.engine.finishRun({
      fence,
      runId,
      status: 'success',
      threadStatus: 'interrupted',
      values: Buffer.from(JSON.stringify({ ...values, __interrupt__: interrupts })),
      interrupts: Buffer.from(JSON.stringify({ task: interrupts })),
      checkpointId: null,
      error: null,
    });
    await this.publishEnd('{"status":"success"}');
  }

  async fail(error: ErrorInfo): Promise<void> {
    await this.finishUnpublished('error', null, error);
    await this.emit('error', error);
    await this.publishEnd('{"status":"error"}');
  }

  async interrupt(values: unknown): Promise<void> {
    await this.finishUnpublished('interrupted', values, null);
    await this.publishEnd('{"status":"interrupted"}');
  }

  /** Ends a run that was cancelled with `rollback`: nothing of it is kept, and its own client gets its last values. */
  async rollBack(values: unknown): Promise<void> {
    await this.finishUnpublished('interrupted', values, null);
    await this.publishEnd(`{"rolled_back":true,"status":"interrupted","values":${JSON.stringify(values)}}`);
  }

  /** Stores the end in Postgres and publishes nothing: a reader sees this when the last event was lost. */
  async finishUnpublished(
    status: 'success' | 'error' | 'interrupted',
    values: unknown,
    error: ErrorInfo | null,
  ): Promise<void> {
    const threadStatus = status === 'success' ? 'idle' : status;
    await this.#worker.engine.finishRun({
      fence: this.claimed.fence,
      runId: this.claimed.runId,
      status,
      threadStatus,
      values: values === null ? null : Buffer.from(JSON.stringify(values)),
      interrupts: null,
      checkpointId: null,
      error,
    });
  }

  get #isResumable(): boolean {
    return this.claimed.kwargs.resumable === true;
  }

  /** Publishes the end of an ended run. */
  async publishEnd(data: string): Promise<void> {
    const { runId, attempt, fence } = this.claimed;
    const { streams, engine } = this.#worker;
    await appendEnd(
      { streams, currentEpoch: (threadId) => engine.currentEpoch(threadId) },
      { fence, isResumable: this.#isResumable },
      [{ runId, attempt, kind: CONTROL_KINDS.end, event: 'end', data }],
    );
  }
}
