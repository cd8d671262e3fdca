import {
  RunCancelled,
  RunCreated,
  RunFinished,
  RunRetried,
  RunStarted,
  RunUsed,
  type TopicName,
} from '@runyard/contracts';
import { insertIntoOutbox, makeEvent } from '@runyard/event-bus';
import type pg from 'pg';
import type { RunEventTemplate } from './event-rows.ts';
import type { UsedRun } from './types.ts';
import { queuePushes } from './webhooks/queue-pushes.ts';
import { queueWebhooks, queueWebhooksOfDeleted } from './webhooks/queue-webhooks.ts';

interface EventRun {
  runId: string;
  threadId: string;
  assistantId: string;
}

interface AttemptedRun extends EventRun {
  attempt: number;
}

export type RetryReason = 'worker_lost' | 'failed' | 'handed_over';

interface EndedRun extends AttemptedRun {
  status: string;
  hasWebhooks?: boolean;
}

const TOPIC: TopicName = 'runs';

/**
 * Writes the lifecycle events of runs into the outbox and the queue of webhooks, in the transaction that makes them
 * true.
 */
export class RunEvents {
  readonly #deploymentId: string;
  readonly #source: string;
  /** Connections whose transaction has queued webhooks. */
  readonly #queuing = new WeakSet<pg.ClientBase>();

  constructor(deploymentId: string, source: string) {
    this.#deploymentId = deploymentId;
    this.#source = source;
  }

  /** The values by which a statement writes the events of its runs itself. */
  get templates(): Record<'created' | 'started' | 'cancelled' | 'finished', RunEventTemplate> {
    const common = { topic: TOPIC, source: this.#source, deploymentId: this.#deploymentId };
    const template = (schema: { properties: { type: { const: string } } }) => ({
      ...common,
      type: schema.properties.type.const,
    });
    return {
      created: template(RunCreated),
      started: template(RunStarted),
      cancelled: template(RunCancelled),
      finished: template(RunFinished),
    };
  }

  async writeRetried(client: pg.ClientBase, runs: (AttemptedRun & { reason: RetryReason })[]): Promise<void> {
    await this.#insert(
      client,
      runs.map((run) => {
        const data = { ...this.#data(run), attempt: run.attempt, reason: run.reason };
        return makeEvent(RunRetried, { ...this.#about(run), data });
      }),
    );
  }

  async writeUsed(client: pg.ClientBase, runs: UsedRun[]): Promise<void> {
    await this.#insert(
      client,
      runs.map((run) => {
        const data = { ...this.#data(run), attempt: run.attempt, ...run.usage };
        return makeEvent(RunUsed, { ...this.#about(run), data });
      }),
    );
  }

  async writeFinished(client: pg.ClientBase, runs: EndedRun[]): Promise<void> {
    await this.#insert(
      client,
      runs.map((run) => {
        const data = { ...this.#data(run), attempt: run.attempt, status: run.status };
        return makeEvent(RunFinished, { ...this.#about(run), data });
      }),
    );
    await this.queueWebhooksOfEnded(client, runs);
  }

  /** Queues the webhooks of runs that the transaction has ended. */
  async queueWebhooksOfEnded(client: pg.ClientBase, runs: Pick<EndedRun, 'runId' | 'hasWebhooks'>[]): Promise<void> {
    const withWebhooks = runs.filter((run) => run.hasWebhooks);
    if (withWebhooks.length === 0) return;
    await queueWebhooks(
      client,
      withWebhooks.map((run) => run.runId),
    );
    this.#queuing.add(client);
  }

  /** Queues the push notifications of tasks, by their newest runs, that were canceled while they waited. */
  async queuePushesOfCanceled(client: pg.ClientBase, runIds: readonly string[]): Promise<void> {
    await queuePushes(client, runIds, { isCanceled: true });
    this.#queuing.add(client);
  }

  /** Must be called before rows of runs are deleted; `finished` then writes their end events. */
  async queueWebhooksBeforeDelete(client: pg.ClientBase, runs: { threadIds: string[]; runId?: string }): Promise<void> {
    if (await queueWebhooksOfDeleted(client, runs)) this.#queuing.add(client);
  }

  /**
   * Returns whether the transaction that is about to commit has queued webhooks: the caller then has to wake their
   * sender.
   */
  hasQueuedWebhooks(client: pg.ClientBase): boolean {
    return this.#queuing.delete(client);
  }

  async #insert(client: pg.ClientBase, events: ReturnType<typeof makeEvent>[]): Promise<void> {
    if (events.length === 0) return;
    await insertIntoOutbox(
      client,
      events.map((event) => ({ topic: TOPIC, key: event.subject, event })),
    );
  }

  #about(run: EventRun) {
    return { source: this.#source, subject: run.threadId };
  }

  #data(run: EventRun) {
    return {
      deployment_id: this.#deploymentId,
      run_id: run.runId,
      thread_id: run.threadId,
      assistant_id: run.assistantId,
    };
  }
}
