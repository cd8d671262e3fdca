import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';

interface Dependencies {
  pool: pg.Pool;
  logger: Pick<Logger, 'warn'>;
}

/** Is called with deployments of the listener's workspace whose runs have changed. */
type Hear = (deploymentIds: readonly string[]) => void;

interface Listener {
  workspaceId: string;
  hear: Hear;
}

interface ChangedRow {
  newest: number;
  deployment_id: string | null;
  workspace_id: string | null;
  change: number | null;
}

const LOOK_EVERY_MS = 500;
const RETRY_MS = 2_000;
/** Every deployment has a higher change. */
const BEFORE_ALL = -1;

/**
 * Looks which deployments have runs that changed in the journal, whichever process changed them. All listeners share one
 * question every half second, and nothing is asked while nobody listens.
 */
export class JournalChanges {
  readonly #dependencies: Dependencies;
  readonly #listeners = new Set<Listener>();
  /** Resolves when the position is known from which on changes are reported; undefined while nobody looks. */
  #begun: Promise<void> | undefined;
  /** The newest change that was reported, or was there when somebody began to listen. */
  #position = BEFORE_ALL;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Listens for changes in a workspace. When it resolves, none is missed any more. A change may be reported that is a
   * little older. Returns the function that ends it.
   *
   * @throws Error when the database cannot be asked
   */
  async listen(workspaceId: string, hear: Hear): Promise<() => void> {
    const listener = { workspaceId, hear };
    this.#listeners.add(listener);
    this.#begun ??= this.#begin();
    try {
      await this.#begun;
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
    return () => void this.#listeners.delete(listener);
  }

  async #begin(): Promise<void> {
    try {
      const { rows } = await this.#dependencies.pool.query<{ change: number }>(
        'SELECT coalesce(max(last_change), 0)::float8 AS change FROM deployment',
      );
      this.#position = rows[0]!.change;
    } catch (error) {
      this.#begun = undefined;
      throw error;
    }
    void this.#lookWhileHeard();
  }

  async #lookWhileHeard(): Promise<void> {
    let waitMs = LOOK_EVERY_MS;
    for (;;) {
      await pause(waitMs, undefined, { ref: false });
      if (this.#listeners.size === 0) break;
      try {
        await this.#look();
        waitMs = LOOK_EVERY_MS;
      } catch (error) {
        // The position stays, so that what changes meanwhile is reported afterwards.
        this.#dependencies.logger.warn('changes of the journal cannot be read, will retry', { error });
        waitMs = RETRY_MS;
      }
    }
    this.#begun = undefined;
  }

  async #look(): Promise<void> {
    const { rows } = await this.#dependencies.pool.query<ChangedRow>({
      name: 'history_changes',
      text: `SELECT c.last_value::float8 AS newest, d.deployment_id, d.workspace_id, d.last_change::float8 AS change
             FROM journal_change c LEFT JOIN deployment d ON d.last_change > $1 AND NOT d.is_deleted`,
      values: [this.#position],
    });
    // The database is an older one, after a failure or from a backup: its numbers come again.
    if (rows[0]!.newest < this.#position) this.#position = BEFORE_ALL;
    const changed = new Map<string, string[]>();
    for (const { deployment_id: id, workspace_id: workspaceId, change } of rows) {
      if (id === null || workspaceId === null || change === null) continue;
      this.#position = Math.max(this.#position, change);
      const ofWorkspace = changed.get(workspaceId);
      if (ofWorkspace) ofWorkspace.push(id);
      else changed.set(workspaceId, [id]);
    }
    for (const { workspaceId, hear } of this.#listeners) {
      const ids = changed.get(workspaceId);
      if (ids) hear(ids);
    }
  }
}
