import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { LINK_PACKAGES } from '@runyard/test-kit/built-project';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { createEmpty, deploy } from './support/sources.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start();
});
afterAll(() => platform?.close());

/** Begins a build that waits until the file `open` is there. */
async function beginBuild(name: string): Promise<{ id: string; revisionId: string }> {
  const { id } = await createEmpty(platform);
  const path = join(platform.folder, name);
  const held = `touch ${path} && while [ ! -e ${platform.folder}/open ]; do sleep 0.05; done`;
  const { status, body } = await deploy(platform, id, { install_command: `${held} && ${LINK_PACKAGES}` });
  expect(status, JSON.stringify(body)).toBe(200);
  const revisionId = body.latest_revision_id!;
  await platform.untilStatus(id, revisionId, 'BUILDING');
  await waitFor(() => existsSync(path), { what: `the build ${name}` }).catch((error: Error) => {
    throw new Error(`${error.message}: ${platform.output().slice(-8000)}`);
  });
  return { id, revisionId };
}

/** Leaves what the release before builders leaves: rows that know no orders, and no queue. */
async function returnToFormerRelease(): Promise<string[]> {
  const redis = new Redis(platform.redis.url);
  const keys = await redis.keys(`{${platform.redis.prefix}:builds}*`);
  if (keys.length > 0) await redis.del(keys);
  await redis.quit();
  return withDatabaseClient(platform.database.url, async (client) => {
    await client.query(
      'ALTER TABLE revision DROP COLUMN build_epoch, DROP COLUMN unfinished_builds, DROP COLUMN build_reported_at',
    );
    await client.query(`DELETE FROM _prisma_migrations WHERE migration_name = '20261213000000_builds'`);
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM revision WHERE status = 'BUILDING' ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  });
}

it('a build that was under way when the release changed is begun again, or fails with the reason', async () => {
  const [kept, lost] = [await beginBuild('kept'), await beginBuild('lost')];
  await platform.stopService();
  expect(await returnToFormerRelease()).toEqual([kept.revisionId, lost.revisionId].sort());
  await rm(join(platform.folder, 'objects', 'deployments', lost.id), { recursive: true });
  await writeFile(join(platform.folder, 'open'), '');
  await platform.startService();
  await platform.untilStatus(kept.id, kept.revisionId, 'DEPLOYED');
  const failed = await platform.untilStatus(lost.id, lost.revisionId, 'BUILD_FAILED');
  expect(failed.status_message).toContain('The uploaded archive is not there any more: upload it again.');
});
