import type { RevisionStatus } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { processesOf } from './support/processes.ts';
import { createEmpty, deploy } from './support/sources.ts';

let platform: TestPlatform;
let held: pg.Client;
beforeAll(async () => {
  platform = await TestPlatform.start({}, { hasOwnProcess: true });
  held = new pg.Client({ connectionString: platform.database.url });
  await held.connect();
  await held.query('CREATE TABLE held_status (status text)');
  await held.query(`CREATE FUNCTION hold_revision() RETURNS trigger AS $$
    BEGIN
      IF EXISTS (SELECT 1 FROM held_status WHERE status = NEW.status) THEN PERFORM pg_advisory_xact_lock(4242); END IF;
      RETURN NEW;
    END $$ LANGUAGE plpgsql`);
  await held.query('CREATE TRIGGER hold BEFORE UPDATE ON revision FOR EACH ROW EXECUTE FUNCTION hold_revision()');
});
afterAll(async () => {
  await held.end();
  await platform.close();
});

/** Blocks every process that gives a revision this status, in the middle of its transaction, until `release`. */
async function holdAt(
  status: RevisionStatus,
): Promise<{ reached: () => Promise<unknown>; release: () => Promise<void> }> {
  await held.query('SELECT pg_advisory_lock(4242)');
  await held.query('INSERT INTO held_status VALUES ($1)', [status]);
  const waiting = `SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database
    WHERE locktype = 'advisory' AND NOT granted AND d.datname = current_database()`;
  return {
    reached: () =>
      waitFor(async () => (await held.query(waiting)).rowCount === 1, { what: `a revision on its way to ${status}` }),
    async release() {
      await held.query('DELETE FROM held_status');
      await held.query('SELECT pg_advisory_unlock(4242)');
    },
  };
}

const STEPS: readonly RevisionStatus[] = [
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
  'DEPLOYED',
];

describe('a roll-out whose control-plane is killed', () => {
  let id: string;
  let active: string | null = null;
  beforeAll(async () => {
    id = (await createEmpty(platform)).id;
  });

  it.each(STEPS)('before it is %s continues, and until then the active revision serves', async (status) => {
    const hold = await holdAt(status);
    const { body } = await deploy(platform, id, { build_command: `echo before ${status}` });
    const next = body.latest_revision_id!;
    await hold.reached();
    expect((await platform.get(id)).body.active_revision_id).toBe(active);
    await platform.process.stop({ signal: 'SIGKILL' });
    await hold.release();
    await waitFor(() => [active ?? next, next].flatMap(processesOf).length === 0, {
      what: 'the end of its children',
    });

    await platform.startService();
    await platform.untilStatus(id, next, 'DEPLOYED');
    expect((await platform.get(id)).body.active_revision_id).toBe(next);
    expect(await platform.upstreamOf(id)).toMatch(/^http:/);
    // Nothing was started twice: the revision has one agent-api and one worker.
    expect(processesOf(next)).toHaveLength(2);
    if (active !== null)
      await waitFor(() => processesOf(active!).length === 0, { what: 'the end of the replaced revision' });
    active = next;
  });
});

it('a revision that is healthy after another process deleted its deployment gets no route', async () => {
  await held.query(`CREATE TABLE routed (id uuid)`);
  await held.query(`CREATE FUNCTION note_route() RETURNS trigger AS $$
    BEGIN INSERT INTO routed VALUES (NEW.id); RETURN NEW; END $$ LANGUAGE plpgsql`);
  await held.query(`CREATE TRIGGER note AFTER UPDATE ON deployment FOR EACH ROW
    WHEN (NEW.delete_requested_at IS NOT NULL AND cardinality(NEW.upstreams) > 0) EXECUTE FUNCTION note_route()`);
  const hold = await holdAt('DEPLOYING');
  const { id, latest_revision_id } = (await platform.create()).body;
  await hold.reached();
  await held.query("UPDATE deployment SET status = 'AWAITING_DELETE', delete_requested_at = now() WHERE id = $1", [id]);
  await hold.release();
  const routed = async () => (await held.query('SELECT 1 FROM routed')).rowCount ?? 0;
  await waitFor(() => processesOf(latest_revision_id!).length > 0, { what: 'its processes' });
  await waitFor(async () => processesOf(latest_revision_id!).length === 0 || (await routed()) > 0, {
    what: 'its end',
  });
  expect(await routed()).toBe(0);
});
