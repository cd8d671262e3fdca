import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/**
 * Leases of tasks that only one process may do at a time (relaying the outbox, sweeping). The owner of the row's lease
 * does the task; an owner that dies loses it when the lease expires. Times are the database's, so clocks need not
 * agree. A lease keeps duplicate work rare, but does not fence: the work itself must tolerate a late second owner.
 *
 * The table, for the migrations of a database that uses these leases: `CREATE TABLE duty (name text PRIMARY KEY, holder
 * uuid NOT NULL, lease_until timestamptz NOT NULL);`
 */
export interface LeaseRequest {
  name: string;
  /** The id of the process that wants the lease (uuid). */
  owner: string;
  leaseMs: number;
}

/** Takes the lease if it is free or expired, or renews it for its owner; false when another process has it. */
export async function acquireLease(db: pg.Pool | pg.ClientBase, { name, ...request }: LeaseRequest): Promise<boolean> {
  return (await acquireLeases(db, { ...request, names: [name] })).has(name);
}

/**
 * Takes many leases in one query, each independently. Resolves with the names of those that the owner has now. It does
 * not wait for the disk: a lease that a crash of the server forgets is free.
 */
export async function acquireLeases(
  db: pg.Pool | pg.ClientBase,
  { names, owner, leaseMs }: Omit<LeaseRequest, 'name'> & { names: readonly string[] },
): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>({
    name: 'duty_take',
    // The order prevents a deadlock between two processes that take the same leases.
    text: `INSERT INTO duty (name, holder, lease_until)
           SELECT wanted, $2, clock_timestamp() + make_interval(secs => $3::float8 / 1000)
           FROM (SELECT DISTINCT unnest($1::text[]) AS wanted ORDER BY wanted) AS wanted_duty,
                (SELECT set_config('synchronous_commit', 'off', true)) AS lax
           ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
           WHERE duty.holder = excluded.holder OR duty.lease_until <= clock_timestamp()
              -- Given before the clock was set back: no lease is so long.
              OR duty.lease_until > clock_timestamp() + make_interval(secs => greatest($3::float8 / 100, 600))
           RETURNING name`,
    values: [names, owner, leaseMs],
  });
  return new Set(rows.map(({ name }) => name));
}

/** Releases the lease at once; does nothing when another process has it. */
export async function releaseLease(
  db: pg.Pool | pg.ClientBase,
  { name, owner }: Pick<LeaseRequest, 'name' | 'owner'>,
): Promise<void> {
  await db.query('DELETE FROM duty WHERE name = $1 AND holder = $2', [name, owner]);
}

/** Releases all leases of owners that are known to be dead; returns their number. */
export async function releaseLeasesOf(db: pg.Pool | pg.ClientBase, owners: string[]): Promise<number> {
  const { rowCount } = await db.query('DELETE FROM duty WHERE holder::text = ANY($1::text[])', [owners]);
  return rowCount ?? 0;
}

/**
 * The lease of one process for use in a loop. `isMine()` queries the database only when a third of the lease has
 * passed, so it may be called before every piece of work.
 */
export class Lease {
  readonly #db: pg.Pool;
  readonly #request: LeaseRequest;
  readonly #now: () => number;
  /** Monotonic time until which the last answer is valid. */
  #askAgainAt = 0;
  #asking: Promise<boolean> | undefined;

  /** @param request.owner by default a new one, for a process that has no id */
  constructor(
    db: pg.Pool,
    request: Omit<LeaseRequest, 'owner'> & { owner?: string },
    now: () => number = () => performance.now(),
  ) {
    this.#db = db;
    this.#request = { owner: randomUUID(), ...request };
    this.#now = now;
  }

  get name(): string {
    return this.#request.name;
  }

  /**
   * Returns whether this process has the lease now; takes it if it is free. Throws when the database is unavailable.
   */
  async isMine(): Promise<boolean> {
    if (this.#now() < this.#askAgainAt) return true;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async release(): Promise<void> {
    this.#askAgainAt = 0;
    await releaseLease(this.#db, this.#request);
  }

  async #ask(): Promise<boolean> {
    // The time is taken before the query: the lease began later.
    const askedAt = this.#now();
    const isMine = await acquireLease(this.#db, this.#request);
    this.#askAgainAt = isMine ? askedAt + this.#request.leaseMs / 3 : 0;
    return isMine;
  }
}
