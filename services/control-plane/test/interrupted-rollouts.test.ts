import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deployment, Revision } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { processesOf } from './support/processes.ts';
import { createEmpty, deploy } from './support/sources.ts';

let platform: TestPlatform;
/** Its first revision is the active one before and after each test. */
let healthy: Deployment;
beforeAll(async () => {
  platform = await TestPlatform.start({ SWEEP_SECONDS: '1', CONCURRENT_BUILDS: '1' }, { hasOwnProcess: true });
  healthy = await platform.createHealthy();
});
afterAll(() => platform.close());

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

/** Interrupts the revision like another control-plane: this one only sees the row. */
const interrupt = (revisionId: string) =>
  withDatabaseClient(platform.database.url, (client) =>
    client.query("UPDATE revision SET status = 'INTERRUPTED' WHERE id = $1", [revisionId]),
  );
const statusOf = async (id: string, revisionId: string) =>
  (await platform.call<Revision>('GET', `/v2/deployments/${id}/revisions/${revisionId}`)).body.status;
/** Waits until the deployment's own database names this revision as the one whose workers claim runs. */
async function untilWorkersOf(id: string, revisionId: string): Promise<void> {
  const answer = await fetch(`${await platform.upstreamOf(id)}/started-with`);
  const { secrets } = (await answer.json()) as { secrets: { DATABASE_URI: string } };
  await withDatabaseClient(secrets.DATABASE_URI, (client) =>
    waitFor(
      async () =>
        (await client.query('SELECT active_revision FROM deployment')).rows[0]?.active_revision === revisionId,
      {
        what: `runs for workers of ${revisionId}`,
      },
    ),
  );
}
const pidIn = (file: string) => waitFor(async () => Number(await readFile(file, 'utf8').catch(() => '')) || null);

describe('a revision that is interrupted', () => {
  it('while it builds ends all processes of the build, and frees the slot for the next', async () => {
    const { id } = await createEmpty(platform);
    const file = join(platform.folder, 'building');
    const { body } = await deploy(platform, id, { install_command: `sleep 600 & echo $! > ${file}; wait` });
    const pid = await pidIn(file);
    // No slot is free, so this build waits, and is interrupted while it waits.
    const waiting = await createEmpty(platform);
    const second = (await deploy(platform, waiting.id)).body.latest_revision_id!;
    await platform.untilStatus(waiting.id, second, 'AWAITING_BUILD');
    await interrupt(second);

    await interrupt(body.latest_revision_id!);
    await waitFor(() => !isAlive(pid), { what: 'the end of the build' });
    const next = await deploy(platform, id);
    await platform.untilStatus(id, next.body.latest_revision_id!, 'DEPLOYED');
    expect(await statusOf(id, body.latest_revision_id!)).toBe('INTERRUPTED');
    expect(await statusOf(waiting.id, second)).toBe('INTERRUPTED');
  });

  it('while it starts leaves no process, and the active revision goes on', async () => {
    const { id, active_revision_id } = healthy;
    const { body } = await platform.call<{ latest_revision_id: string }>('PATCH', `/v2/deployments/${id}`, {
      body: { secrets: [{ name: 'NEVER_HEALTHY', value: '1' }] },
    });
    await platform.untilStatus(id, body.latest_revision_id, 'DEPLOYING');
    await waitFor(() => processesOf(body.latest_revision_id).length > 0, { what: 'processes of the new revision' });
    await interrupt(body.latest_revision_id);
    await waitFor(() => processesOf(body.latest_revision_id).length === 0, { what: 'the end of its processes' });
    expect(await statusOf(id, body.latest_revision_id)).toBe('INTERRUPTED');
    expect((await platform.get(id)).body.active_revision_id).toBe(active_revision_id);
    expect((await fetch(`${await platform.upstreamOf(id)}/ok`)).status).toBe(200);
  });

  it('while it cannot be activated leaves the runs to the active revision', async () => {
    const { id, active_revision_id } = healthy;
    await withDatabaseClient(platform.database.url, async (client) => {
      await client.query(`CREATE FUNCTION refuse() RETURNS trigger AS $$
        BEGIN RAISE EXCEPTION 'away' USING ERRCODE = '57P01'; END $$ LANGUAGE plpgsql`);
      await client.query(`CREATE TRIGGER refuse BEFORE UPDATE ON revision FOR EACH ROW
        WHEN (NEW.status = 'DEPLOYED') EXECUTE FUNCTION refuse()`);
    });
    const { body } = await platform.call<{ latest_revision_id: string }>('PATCH', `/v2/deployments/${id}`, {
      body: { secrets: [{ name: 'COLOR', value: 'blue' }] },
    });
    await untilWorkersOf(id, body.latest_revision_id);
    await interrupt(body.latest_revision_id);
    await untilWorkersOf(id, active_revision_id!);
    await withDatabaseClient(platform.database.url, (client) => client.query('DROP TRIGGER refuse ON revision'));
  });
});

describe('a revision that another process activated', () => {
  it('takes over from the one that serves here, which ends', async () => {
    const { id, active_revision_id: first } = healthy;
    const { body } = await platform.call<{ latest_revision_id: string }>('PATCH', `/v2/deployments/${id}`, {
      body: { secrets: [{ name: 'COLOR', value: 'blue' }] },
    });
    await platform.untilStatus(id, body.latest_revision_id, 'DEPLOYED');
    await withDatabaseClient(platform.database.url, (client) =>
      client.query('UPDATE deployment SET active_revision_id = $1 WHERE id = $2', [first, id]),
    );
    await untilWorkersOf(id, first!);
    await waitFor(() => processesOf(body.latest_revision_id).length === 0, { what: 'the end of what served' });
    expect(processesOf(first!)).toHaveLength(2);
  });
});
