import { type TransactionOptions, withTransaction } from '@runyard/database';
import type pg from 'pg';
import { FencedError } from './errors.ts';
import type { RunEvents } from './run-events.ts';

/** Repeats of a transaction that met a deadlock. */
const ATTEMPTS = 5;

export interface EngineWritesOptions {
  pool: pg.Pool;
  events: RunEvents;
  /** What a transaction waits for a lock: a request may wait as long, and others need its connection. */
  lockWaitMs: number;
  onOutboxWritten?: (() => void) | undefined;
  onWebhooksQueued?: (() => void) | undefined;
  onStaleWrite?: (() => void) | undefined;
}

/** The transactions of an engine, and who is told of what they wrote. */
export class EngineWrites {
  readonly #options: EngineWritesOptions;

  constructor(options: EngineWritesOptions) {
    this.#options = options;
  }

  /** A transaction, repeated when it meets a deadlock. */
  readonly write = async <T>(
    work: (client: pg.PoolClient) => Promise<T>,
    { lockTimeoutMs = this.#options.lockWaitMs }: Pick<TransactionOptions, 'lockTimeoutMs'> = {},
  ): Promise<T> => {
    const { pool, events } = this.#options;
    let hasWebhooks = false;
    const result = await withTransaction(
      pool,
      async (client) => {
        const written = await work(client);
        hasWebhooks = events.hasQueuedWebhooks(client);
        return written;
      },
      { attempts: ATTEMPTS, lockTimeoutMs },
    );
    this.tell({ hasWebhooks });
    return result;
  };

  /** A write under a fence: one that came too late is told of. */
  fenced<T>(write: Promise<T>): Promise<T> {
    return write.catch((error: unknown) => {
      if (error instanceof FencedError) this.#options.onStaleWrite?.();
      throw error;
    });
  }

  /** Something else committed rows of the outbox. */
  tell({ hasWebhooks }: { hasWebhooks: boolean }): void {
    this.#options.onOutboxWritten?.();
    if (hasWebhooks) this.#options.onWebhooksQueued?.();
  }
}
