import { type TransactionOptions, withTransaction } from '@runyard/database';
import type pg from 'pg';
import { FencedError } from './errors.ts';
import type { RunEvents } from './run-events.ts';

/** Attempts of a transaction that meets a deadlock. */
const ATTEMPTS = 5;

export interface EngineWritesOptions {
  pool: pg.Pool;
  events: RunEvents;
  /**
   * Milliseconds that a transaction waits for a lock: no longer than a request may wait, because others need its
   * connection.
   */
  lockWaitMs: number;
  onOutboxWritten?: (() => void) | undefined;
  onWebhooksQueued?: (() => void) | undefined;
  onStaleWrite?: (() => void) | undefined;
}

/** Runs the transactions of an engine, and notifies the listeners of what they wrote. */
export class EngineWrites {
  readonly #options: EngineWritesOptions;

  constructor(options: EngineWritesOptions) {
    this.#options = options;
  }

  /** Runs a transaction, and repeats it when it meets a deadlock. */
  readonly write = async <T>(
    work: (client: pg.PoolClient) => Promise<T>,
    {
      lockTimeoutMs = this.#options.lockWaitMs,
      genericPlans = false,
    }: Pick<TransactionOptions, 'lockTimeoutMs' | 'genericPlans'> = {},
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
      { attempts: ATTEMPTS, lockTimeoutMs, genericPlans },
    );
    this.notifyListeners({ hasWebhooks });
    return result;
  };

  /** Reports a fenced write that came too late. */
  reportStaleWrites<T>(write: Promise<T>): Promise<T> {
    return write.catch((error: unknown) => {
      if (error instanceof FencedError) this.#options.onStaleWrite?.();
      throw error;
    });
  }

  /** Notifies the listeners of outbox rows that other code has committed. */
  notifyListeners({ hasWebhooks }: { hasWebhooks: boolean }): void {
    this.#options.onOutboxWritten?.();
    if (hasWebhooks) this.#options.onWebhooksQueued?.();
  }
}
