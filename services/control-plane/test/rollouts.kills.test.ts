import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HeldRevisions, STEPS } from './support/held-revisions.ts';
import { TestPlatform } from './support/platform.ts';
import { processesOf } from './support/processes.ts';
import { createEmpty, deploy } from './support/sources.ts';

let platform: TestPlatform;
let held: HeldRevisions;
beforeAll(async () => {
  platform = await TestPlatform.start({}, { hasOwnProcess: true });
  held = await HeldRevisions.open(platform);
});
afterAll(async () => {
  await held.close();
  await platform.close();
});

/** Kills one of the processes; what is returned starts it again. */
const KILLS = {
  'control-plane': async () => {
    await platform.killControlPlane();
    return () => platform.startService();
  },
  'data plane': async () => {
    await platform.dataPlane.kill();
    return () => platform.dataPlane.start();
  },
  'control-plane and data plane': async () => {
    await platform.kill();
    return () => platform.startService();
  },
};

describe.each(Object.entries(KILLS))('a roll-out whose %s is killed', (name, kill) => {
  let id: string;
  let active: string | null = null;
  beforeAll(async () => {
    id = (await createEmpty(platform)).id;
  });

  it.each(STEPS)('before it is %s continues, and until then the active revision serves', async (status) => {
    const hold = await held.at(status);
    const { body } = await deploy(platform, id, { build_command: `echo before ${status} ${name}` });
    const next = body.latest_revision_id!;
    await hold.reached();
    expect((await platform.get(id)).body.active_revision_id).toBe(active);
    const startAgain = await kill();
    await hold.release();
    if (name !== 'control-plane')
      await waitFor(() => [active ?? next, next].flatMap(processesOf).length === 0, {
        what: 'the end of its children',
      });

    await startAgain();
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
  await held.client.query(`CREATE TABLE routed (id uuid)`);
  await held.client.query(`CREATE FUNCTION note_route() RETURNS trigger AS $$
    BEGIN INSERT INTO routed VALUES (NEW.id); RETURN NEW; END $$ LANGUAGE plpgsql`);
  await held.client.query(`CREATE TRIGGER note AFTER UPDATE ON deployment FOR EACH ROW
    WHEN (NEW.delete_requested_at IS NOT NULL AND cardinality(NEW.upstreams) > 0) EXECUTE FUNCTION note_route()`);
  const hold = await held.at('DEPLOYING');
  const { id, latest_revision_id } = (await platform.create()).body;
  await hold.reached();
  await held.client.query(
    "UPDATE deployment SET status = 'AWAITING_DELETE', delete_requested_at = now() WHERE id = $1",
    [id],
  );
  await hold.release();
  const routed = async () => (await held.client.query('SELECT 1 FROM routed')).rowCount ?? 0;
  await waitFor(() => processesOf(latest_revision_id!).length > 0, { what: 'its processes' });
  await waitFor(async () => processesOf(latest_revision_id!).length === 0 || (await routed()) > 0, {
    what: 'its end',
  });
  expect(await routed()).toBe(0);
});
