import type pg from 'pg';

export interface StateTimesOptions {
  pool: pg.Pool;
  /**
   * Is called when the times of some threads were not written; the next checkpoint or the end of their runs corrects
   * them.
   */
  onError: (error: unknown) => void;
}

/** Milliseconds by which the time of a thread's state may be older than its newest checkpoint. */
const LAG_MS = 250;

/**
 * Updates the time of a thread's state with its checkpoints while a run is running. Checkpoints do not wait for it:
 * their transactions lock no thread row and change no index of threads. One statement writes the times of all
 * checkpoints of a moment. When a run has ended by then, its end has written the time.
 */
export class StateTimes {
  readonly #options: StateTimesOptions;
  /** The commit time of each thread's newest checkpoint, monotonic. */
  #committed = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: StateTimesOptions) {
    this.#options = options;
  }

  /** Records that checkpoints of these threads have just become durable. */
  recordCommits(threadIds: Iterable<string>): void {
    const now = performance.now();
    for (const threadId of threadIds) this.#committed.set(threadId, now);
    if (this.#committed.size > 0) this.#timer ??= setTimeout(() => this.#begin(), LAG_MS);
  }

  /** Resolves when all recorded times are written. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#write();
  }

  #begin(): void {
    this.#writing = this.#write().finally(() => {
      this.#timer = undefined;
      this.recordCommits([]);
    });
  }

  async #write(): Promise<void> {
    const committed = [...this.#committed];
    this.#committed = new Map();
    if (committed.length === 0) return;
    const now = performance.now();
    try {
      await this.#options.pool.query({
        name: 'engine_move_state_times',
        // A transaction that has locked a thread ends or accepts a run, so this does not wait for it. A loss in a crash
        // is corrected as well.
        text: `WITH due AS MATERIALIZED (
                 SELECT t.thread_id, now() - make_interval(secs => i.age_ms / 1000) AS at
                 FROM unnest($1::uuid[], $2::float8[]) AS i (thread_id, age_ms) JOIN thread t USING (thread_id)
                 WHERE t.status = 'busy' AND t.state_updated_at < now() - make_interval(secs => i.age_ms / 1000)
                 ORDER BY t.thread_id FOR NO KEY UPDATE OF t SKIP LOCKED
               )
               UPDATE thread t SET state_updated_at = due.at
               FROM due, (SELECT set_config('synchronous_commit', 'off', true)) AS lax
               WHERE t.thread_id = due.thread_id`,
        values: [committed.map(([threadId]) => threadId), committed.map(([, at]) => now - at)],
      });
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
