import { existsSync } from 'node:fs';
import type { Deployment } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start({}, { hasOwnProcess: true });
});
afterEach(() => platform.deleteAll());
afterAll(() => platform.close());

const pidsOf = async (id: string): Promise<number> => {
  const answer = await fetch(`${await platform.upstreamOf(id)}/started-with`);
  return ((await answer.json()) as { pid: number }).pid;
};
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);
const untilGone = (pid: number) => waitFor(() => !isAlive(pid), { what: `the end of process ${pid}` });
/** Waits until another process serves the deployment, and returns its id. */
const untilServedByAnother = (id: string, pid: number) =>
  waitFor(
    async () => {
      const now = await pidsOf(id).catch(() => pid);
      return now === pid ? null : now;
    },
    { what: 'another process that serves' },
  );

describe('a platform', () => {
  it('that is stopped ends its deployments, and restarts them with the same revision and mount prefix', async () => {
    const secrets = [{ name: 'MOUNT_PREFIX', value: '/agents' }];
    const { id, active_revision_id } = await platform.createHealthy({ secrets });
    const pid = await pidsOf(id);
    // The previous release activates a revision this way: the row keeps the prefix of the revision before.
    const before = `UPDATE deployment SET mount_prefix = '/before', mount_prefix_revision_id = gen_random_uuid()`;
    await withDatabaseClient(platform.database.url, (client) => client.query(before));
    expect(await platform.routeOf(id)).toMatchObject({ mount_prefix: null });
    await platform.stopService();
    expect(isAlive(pid)).toBe(false);
    const written = await withDatabaseClient(platform.database.url, (client) =>
      client.query('SELECT upstreams FROM deployment WHERE id = $1', [id]),
    );
    expect(written.rows).toEqual([{ upstreams: [] }]);

    await platform.startService();
    await untilServedByAnother(id, pid);
    expect((await platform.get(id)).body).toMatchObject({ status: 'READY', active_revision_id });
    await waitFor(async () => (await platform.routeOf(id))?.mount_prefix === '/agents', { what: 'the mount prefix' });
  });

  it('that is killed leaves no process, and restarts its deployments', async () => {
    const { id, active_revision_id } = await platform.createHealthy();
    const pid = await pidsOf(id);
    await platform.kill();
    await untilGone(pid);

    await platform.startService();
    await untilServedByAnother(id, pid);
    expect((await platform.get(id)).body).toMatchObject({ active_revision_id });
  });

  it('that is killed during a roll-out continues it, while the active revision serves', async () => {
    const { id, active_revision_id } = await platform.createHealthy();
    const body = { secrets: [{ name: 'NEVER_HEALTHY', value: '1' }] };
    const patched = await platform.call<Deployment>('PATCH', `/v2/deployments/${id}`, { body });
    await platform.untilStatus(id, patched.body.latest_revision_id!, 'DEPLOYING');
    const pid = await pidsOf(id);
    await platform.kill();

    await platform.startService();
    await untilServedByAnother(id, pid);
    expect((await platform.get(id)).body).toMatchObject({ active_revision_id });
    await platform.untilStatus(id, patched.body.latest_revision_id!, 'DEPLOYING');
  });

  it('that is killed during a removal continues it', async () => {
    const { id } = await platform.createHealthy({ secrets: [{ name: 'STOP_DELAY_MS', value: '60000' }] });
    const deleting = platform.call('DELETE', `/v2/deployments/${id}`).catch(() => undefined);
    await waitFor(async () => (await platform.get(id)).body.status === 'AWAITING_DELETE');
    await platform.kill();
    await deleting;

    await platform.startService();
    await waitFor(async () => (await platform.get(id)).status === 404);
  });
});

it('a platform that is killed goes on at once on its machine, however long its leases are', async () => {
  const patient = await TestPlatform.start({ LEASE_SECONDS: '300' }, { hasOwnProcess: true });
  try {
    const { id, active_revision_id } = await patient.createHealthy();
    const pid = await fetch(`${await patient.upstreamOf(id)}/started-with`)
      .then((answer) => answer.json())
      .then((started) => (started as { pid: number }).pid);
    await patient.kill();
    await untilGone(pid);
    await patient.startService();
    await waitFor(() => patient.dataPlane.service.output().includes('active revision restarted'));
    expect((await patient.get(id)).body).toMatchObject({ status: 'READY', active_revision_id });
  } finally {
    await patient.close();
  }
});
