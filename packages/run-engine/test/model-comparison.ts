import { deepEqual, equal, rejects } from 'node:assert/strict';
import { ConflictError, NotFoundError } from '@runyard/service-kit';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { FencedError } from '../src/errors.ts';
import type { ClaimedRun } from '../src/runs/types.ts';
import type { CancelAction, MultitaskStrategy } from '../src/types.ts';
import { aRun, type EngineFixture, success, writeCheckpointUnderFence } from './engine-fixture.ts';
import { ModelThread, type Outcome } from './reference-model.ts';
import { findWrongHeads } from './thread-heads.ts';

/** The option `maxFailures` with which the compared engine must be opened. */
export const MAX_FAILURES = 2;
const STEPS_MAX = 40;

/** The random steps. `nth` picks a run of the thread, the newest first, including ended and deleted ones. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('create' as const),
        thread: fc.nat(1),
        strategy: fc.constantFrom<MultitaskStrategy>('reject', 'interrupt', 'rollback', 'enqueue'),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('claim' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), thread: fc.nat(1) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('finish' as const),
        thread: fc.nat(1),
        outcome: fc.constantFrom<Outcome>('success', 'question', 'error'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('cancel' as const),
        thread: fc.nat(1),
        nth: fc.nat(3),
        action: fc.constantFrom<CancelAction>('interrupt', 'rollback'),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('delete' as const), thread: fc.nat(1), nth: fc.nat(3) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose the worker' as const) }) },
  ),
  // Ordering bugs show in long sequences; fast-check shrinks a failure to a short one.
  { minLength: 1, maxLength: STEPS_MAX, size: 'max' },
);

type Step = typeof steps extends fc.Arbitrary<(infer Each)[]> ? Each : never;

interface ComparedThread {
  threadId: string;
  model: ModelThread;
  /** All runs that were ever accepted, including deleted ones. */
  accepted: string[];
  claimed?: ClaimedRun | undefined;
}

/** Takes the engine and the model through the same steps. */
class Comparison {
  readonly #threads: ComparedThread[] = [];
  readonly #fixture: EngineFixture;
  #worker = '';

  constructor(fixture: EngineFixture) {
    this.#fixture = fixture;
  }

  async begin(): Promise<void> {
    this.#worker = await this.#fixture.worker();
    for (let count = 0; count < 2; count += 1) {
      this.#threads.push({
        threadId: await this.#fixture.thread(),
        model: new ModelThread(MAX_FAILURES),
        accepted: [],
      });
    }
  }

  async take(step: Step): Promise<void> {
    const { engine } = this.#fixture;
    if (step.kind === 'claim') return this.#claim();
    if (step.kind === 'lose the worker') return this.#loseWorker();
    const thread = this.#threads[step.thread]!;
    const { threadId, model, accepted } = thread;
    if (step.kind === 'create') {
      const runId = uuidv7();
      const created = engine.createRun(aRun({ runId, threadId, multitaskStrategy: step.strategy }));
      if (!model.create(runId, step.strategy)) return rejects(created, ConflictError);
      await created;
      accepted.push(runId);
      return;
    }
    if (step.kind === 'write') return this.#write(thread);
    if (step.kind === 'finish') return this.#finish(thread, step.outcome);
    if (accepted.length === 0) return;
    const runId = accepted.toReversed()[step.nth % accepted.length]!;
    if (step.kind === 'cancel') {
      const { action } = step;
      const reached = await engine.requestCancel({ threadId, runIds: [runId] }, action, 'asked');
      equal(reached.length, model.cancel([runId], action), 'runs reached by a cancel');
      return;
    }
    const wasRunning = model.running?.runId === runId;
    const deleted = engine.deleteRun(threadId, runId);
    if (!model.delete(runId)) return rejects(deleted, NotFoundError);
    await deleted;
    if (wasRunning) {
      await rejects(engine.finishRun(success(thread.claimed!)), FencedError);
      thread.claimed = undefined;
    }
  }

  async expectAgreement(): Promise<void> {
    for (const { threadId, model } of this.#threads) {
      const runs = await this.#fixture.engine.listRuns({ threadId, limit: 100, offset: 0 });
      const [thread] = await this.#fixture.rows('SELECT status FROM thread WHERE thread_id = $1', [threadId]);
      const seen = runs.map(({ runId, status }) => ({ runId, status })).reverse();
      const expected = model.runs.map(({ runId, status }) => ({ runId, status }));
      deepEqual({ runs: seen, thread: thread!.status }, { runs: expected, thread: model.status });
      const text = 'SELECT run_id FROM checkpoint WHERE thread_id = $1 ORDER BY checkpoint_id';
      const checkpoints = await this.#fixture.rows(text, [threadId]);
      deepEqual(
        checkpoints.map((row) => row.run_id),
        model.checkpoints,
        'the runs whose checkpoints the thread has',
      );
    }
    deepEqual(await findWrongHeads(this.#fixture), []);
  }

  async end(): Promise<void> {
    for (const { threadId } of this.#threads) await this.#fixture.engine.deleteThread(threadId);
    await this.#fixture.engine.removeWorker(this.#worker);
  }

  async #claim(): Promise<void> {
    const claimed = await this.#fixture.engine.claimRuns(this.#worker, 10);
    for (const thread of this.#threads) {
      const run = claimed.find(({ threadId }) => threadId === thread.threadId);
      equal(run?.runId, thread.model.claim()?.runId, 'the run that was claimed');
      if (run) thread.claimed = run;
    }
  }

  async #write({ claimed, model }: ComparedThread): Promise<void> {
    if (!claimed || model.running === undefined) return;
    model.write();
    const client = await this.#fixture.pool.connect();
    try {
      equal(await writeCheckpointUnderFence(client, claimed, uuidv7()), 'written');
    } finally {
      client.release();
    }
  }

  async #finish(thread: ComparedThread, outcome: Outcome): Promise<void> {
    const { claimed, model } = thread;
    if (!claimed || model.running === undefined) return;
    model.finish(outcome);
    thread.claimed = undefined;
    const { hasNextRun } = await this.#fixture.engine.finishRun(
      success(claimed, {
        ...(outcome === 'question' && { threadStatus: 'interrupted', interrupts: Buffer.from('{"t":[]}') }),
        ...(outcome === 'error' && {
          status: 'error',
          threadStatus: 'error',
          values: null,
          checkpointId: null,
          error: { error: 'KettleError', message: 'cold' },
        }),
      }),
    );
    equal(
      hasNextRun,
      model.runs.some(({ status }) => status === 'pending'),
      'whether a run is next',
    );
  }

  /** Loses the worker: all its runs are taken back, and it can write no more. */
  async #loseWorker(): Promise<void> {
    const held = this.#threads.filter(({ model }) => model.running);
    await this.#fixture.engine.removeWorker(this.#worker);
    await this.#fixture.engine.sweep();
    this.#worker = await this.#fixture.worker();
    for (const thread of held) {
      thread.model.lose();
      await rejects(this.#fixture.engine.finishRun(success(thread.claimed!)), FencedError);
      thread.claimed = undefined;
    }
  }
}

/**
 * Takes an engine and the reference model through random sequences of steps on two threads, and compares both after
 * every step. Rejects with the shortest sequence found on which they differ.
 */
export async function agreesWithModel(
  fixture: EngineFixture,
  { sequences, seed }: { sequences: number; seed?: number },
): Promise<void> {
  const property = fc.asyncProperty(steps, async (sequence) => {
    const comparison = new Comparison(fixture);
    await comparison.begin();
    try {
      for (const step of sequence) {
        await comparison.take(step);
        await comparison.expectAgreement();
      }
    } finally {
      await comparison.end();
    }
  });
  await fc.assert(property, { numRuns: sequences, ...(seed !== undefined && { seed }) });
}
