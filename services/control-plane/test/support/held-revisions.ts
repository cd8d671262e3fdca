import type { RevisionStatus } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import pg from 'pg';
import type { TestPlatform } from './platform.ts';

/** The statuses of a roll-out with a build, in their order. */
export const STEPS: readonly RevisionStatus[] = [
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
  'DEPLOYED',
];

export interface HeldStep {
  /** Resolves when a process is held. */
  reached(): Promise<unknown>;
  release(): Promise<void>;
}

/** Holds processes in the middle of the transaction that gives a revision a status, so that they can be killed there. */
export class HeldRevisions {
  readonly client: pg.Client;

  private constructor(client: pg.Client) {
    this.client = client;
  }

  static async open(platform: TestPlatform): Promise<HeldRevisions> {
    const client = new pg.Client({ connectionString: platform.database.url });
    await client.connect();
    await client.query('CREATE TABLE held_status (status text)');
    await client.query(`CREATE FUNCTION hold_revision() RETURNS trigger AS $$
      BEGIN
        IF EXISTS (SELECT 1 FROM held_status WHERE status = NEW.status) THEN PERFORM pg_advisory_xact_lock(4242); END IF;
        RETURN NEW;
      END $$ LANGUAGE plpgsql`);
    await client.query('CREATE TRIGGER hold BEFORE UPDATE ON revision FOR EACH ROW EXECUTE FUNCTION hold_revision()');
    return new HeldRevisions(client);
  }

  /** Holds every process that gives a revision this status, until `release`. */
  async at(status: RevisionStatus): Promise<HeldStep> {
    await this.client.query('SELECT pg_advisory_lock(4242)');
    await this.client.query('INSERT INTO held_status VALUES ($1)', [status]);
    const waiting = `SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database
      WHERE locktype = 'advisory' AND NOT granted AND d.datname = current_database()`;
    return {
      reached: () =>
        waitFor(async () => (await this.client.query(waiting)).rowCount === 1, {
          what: `a revision on its way to ${status}`,
        }),
      release: async () => {
        await this.client.query('DELETE FROM held_status');
        await this.client.query('SELECT pg_advisory_unlock(4242)');
      },
    };
  }

  close(): Promise<void> {
    return this.client.end();
  }
}
