import type pg from 'pg';

const MINUTE_MS = 60_000;

/**
 * The clock of a deployment's database, which stands still until it is set. It applies to connections opened after it
 * was installed.
 */
export class FakeDatabaseClock {
  readonly #pool: pg.Pool;
  #at: number;

  private constructor(pool: pg.Pool, at: number) {
    this.#pool = pool;
    this.#at = at;
  }

  /** Installs functions that shadow Postgres's own. Column defaults keep the real time. */
  static async install(pool: pg.Pool): Promise<FakeDatabaseClock> {
    const at = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + MINUTE_MS / 2;
    const clock = new FakeDatabaseClock(pool, at);
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

  /** Moves to the middle of the minute that is so many minutes away, and returns the last slot before that. */
  async advance(minutes: number): Promise<Date> {
    this.#at += minutes * MINUTE_MS;
    await this.#pool.query('UPDATE steered.clock SET at = to_timestamp($1::float8)', [this.#at / 1000]);
    return new Date(Math.floor(this.#at / MINUTE_MS) * MINUTE_MS);
  }
}
