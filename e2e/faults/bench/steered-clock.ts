import type pg from 'pg';

const MINUTE_MS = 60_000;

/** The clock of a deployment's database, standing still until it is set. For connections made after it was put in. */
export class SteeredClock {
  readonly #pool: pg.Pool;
  #at: number;

  private constructor(pool: pg.Pool, at: number) {
    this.#pool = pool;
    this.#at = at;
  }

  /** Puts functions of the same names before Postgres's own. What has a default by them keeps the real time. */
  static async put(pool: pg.Pool): Promise<SteeredClock> {
    const at = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + MINUTE_MS / 2;
    const clock = new SteeredClock(pool, at);
    await pool.query(`
      CREATE SCHEMA steered;
      CREATE TABLE steered.clock (at timestamptz NOT NULL);
      INSERT INTO steered.clock VALUES (to_timestamp(${at / 1000}));
      CREATE FUNCTION steered.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM steered.clock';
      CREATE FUNCTION steered.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM steered.clock';
      DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = public, steered, pg_catalog', current_database());
      END $$;`);
    return clock;
  }

  /** Goes on to the middle of the minute that is so many minutes away, and answers the slot that came last by then. */
  async pass(minutes: number): Promise<Date> {
    this.#at += minutes * MINUTE_MS;
    await this.#pool.query('UPDATE steered.clock SET at = to_timestamp($1::float8)', [this.#at / 1000]);
    return new Date(Math.floor(this.#at / MINUTE_MS) * MINUTE_MS);
  }
}
