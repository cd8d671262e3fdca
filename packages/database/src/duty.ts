import type pg from 'pg';

/**
 * Duties: what only one process of many may do at a time (relaying the outbox, sweeping). Whoever holds the row's lease has
 * the duty; a holder that dies loses it when the lease lapses. Times are the database's, so clocks need not agree. A lease
 * keeps duplicate work rare, it does not fence: the work itself must tolerate a late second holder.
 *
 * The table, to be put into the migrations of the database that uses duties:
 * `CREATE TABLE duty (name text PRIMARY KEY, holder uuid NOT NULL, lease_until timestamptz NOT NULL);`
 */
export interface DutyClaim {
  name: string;
  /** The process that wants the duty (uuid). */
  holder: string;
  leaseMs: number;
}

/** Takes the duty if it is free or lapsed, renews it if the holder has it; false when another holds it. */
export async function acquireDuty(db: pg.Pool | pg.ClientBase, { name, ...claim }: DutyClaim): Promise<boolean> {
  return (await acquireDuties(db, { ...claim, names: [name] })).has(name);
}

/** The same for many at once, in one query, each for itself. Resolves with those that the holder has now. */
export async function acquireDuties(
  db: pg.Pool | pg.ClientBase,
  { names, holder, leaseMs }: Omit<DutyClaim, 'name'> & { names: readonly string[] },
): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>({
    name: 'duty_take',
    // In order, or two that take the same ones would wait for each other.
    text: `INSERT INTO duty (name, holder, lease_until)
           SELECT wanted, $2, clock_timestamp() + make_interval(secs => $3::float8 / 1000)
           FROM (SELECT DISTINCT unnest($1::text[]) AS wanted ORDER BY wanted) AS wanted_duty
           ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
           WHERE duty.holder = excluded.holder OR duty.lease_until <= clock_timestamp()
              -- Given before the clock was set back: no lease is so long.
              OR duty.lease_until > clock_timestamp() + make_interval(secs => greatest($3::float8 / 100, 600))
           RETURNING name`,
    values: [names, holder, leaseMs],
  });
  return new Set(rows.map(({ name }) => name));
}

/** Gives the duty back at once; nothing happens when another holds it. */
export async function releaseDuty(
  db: pg.Pool | pg.ClientBase,
  { name, holder }: Pick<DutyClaim, 'name' | 'holder'>,
): Promise<void> {
  await db.query('DELETE FROM duty WHERE name = $1 AND holder = $2', [name, holder]);
}

/**
 * One process's hold on a duty for use in a loop: `isMine()` asks the database only when a third of the lease is over, so
 * it may be called before every piece of work.
 */
export class Duty {
  readonly #db: pg.Pool;
  readonly #claim: DutyClaim;
  readonly #now: () => number;
  /** Monotonic time until which the last answer is relied on. */
  #askAgainAt = 0;
  #asking: Promise<boolean> | undefined;

  constructor(db: pg.Pool, claim: DutyClaim, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#claim = claim;
    this.#now = now;
  }

  /** Whether this process has the duty now, taking it if it is free. Throws when the database cannot be asked. */
  async isMine(): Promise<boolean> {
    if (this.#now() < this.#askAgainAt) return true;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async release(): Promise<void> {
    this.#askAgainAt = 0;
    await releaseDuty(this.#db, this.#claim);
  }

  async #ask(): Promise<boolean> {
    // Counted from before the question: the lease began later than this.
    const askedAt = this.#now();
    const mine = await acquireDuty(this.#db, this.#claim);
    this.#askAgainAt = mine ? askedAt + this.#claim.leaseMs / 3 : 0;
    return mine;
  }
}
