import { randomUUID } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import { digestOf, waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorageQuota } from '../src/storage-quota/storage-quota.ts';
import { errorOf, TestRegistry } from './support/test-registry.ts';

const MEGABYTE = 1_000_000;
let test: TestRegistry;
beforeAll(async () => {
  test = await TestRegistry.open({ blobLimitBytes: 5 * MEGABYTE, limits: { HTTP_MAX_BODY_BYTES_IN_FLIGHT: 1000 } });
});
afterAll(() => test?.close());

/** Creates a deployment in this workspace. */
async function deploymentIn(workspaceId: string): Promise<string> {
  const { id } = await test.deployment('internal_source');
  await test.database.prisma.deployment.update({ where: { id }, data: { workspaceId } });
  return id;
}

const uploaded = (deploymentId: string, bytes: number | null) =>
  test.database.prisma.sourceUpload.create({
    data: { id: randomUUID(), deploymentId, objectPath: randomUUID(), expiresAt: new Date(), bytes },
  });

describe('stored data', () => {
  const quotaOf = (config: object = {}) =>
    new StorageQuota({
      pool: test.database.pool,
      config: {
        STORAGE_MAX_BYTES_PER_DEPLOYMENT: 1000,
        STORAGE_MAX_BYTES_PER_WORKSPACE: 1500,
        DISK_MIN_FREE_BYTES: 0,
        DATA_DIR: test.folder,
        ...config,
      },
    });

  it('have a limit for a deployment, sources and images together', async () => {
    const id = await deploymentIn(randomUUID());
    await uploaded(id, 300);
    await uploaded(id, null);
    await test.database.prisma.registryUpload.create({ data: { id: randomUUID(), deploymentId: id, size: 100 } });
    await test.database.prisma.registryBlob.create({ data: { deploymentId: id, digest: 'a', size: 200, parts: [] } });
    // A base layer counts for no deployment, because all images share it.
    const shared = { digest: 'b', size: 5000, parts: [{ key: 'shared' }] };
    await test.database.prisma.baseLayer.create({ data: shared });
    await test.database.prisma.registryBlob.create({ data: { deploymentId: id, ...shared } });
    const manifest = { repository: 'agent', digest: 'c', mediaType: 'x', content: Buffer.alloc(100) };
    await test.database.prisma.registryManifest.create({ data: { deploymentId: id, ...manifest } });
    await quotaOf().check(id, 300);
    await expect(quotaOf().check(id, 301)).rejects.toMatchObject({
      status: 507,
      message: 'There is no room for it: sources and images of this deployment take 700 bytes, of 1000 that they may.',
    });
  });

  it('have a limit for a workspace, independent of others', async () => {
    const workspace = randomUUID();
    const [one, other] = [await deploymentIn(workspace), await deploymentIn(workspace)];
    await uploaded(one, 900);
    await uploaded(await deploymentIn(randomUUID()), 900);
    await quotaOf().check(other, 600);
    await expect(quotaOf().check(other, 601)).rejects.toThrow('sources and images of this workspace take 900 bytes');
  });

  it('have a limit for the platform and for the disk, whose message says nothing of others', async () => {
    const id = await deploymentIn(randomUUID());
    await uploaded(id, 1);
    for (const config of [{ STORAGE_MAX_BYTES: 1 }, { DISK_MIN_FREE_BYTES: Number.MAX_SAFE_INTEGER }]) {
      await expect(quotaOf(config).check(id, 1)).rejects.toThrow('the storage of the platform is full.');
    }
  });
});

it('a layer without room is refused with a message that image tools show, and leaves nothing', async () => {
  const { id, repository, push } = await test.deployment();
  const layer = Buffer.alloc(2 * MEGABYTE, 'a');
  expect((await push.pushBlob(repository, [layer])).status).toBe(201);
  const begun = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
  const second = Buffer.alloc(2 * MEGABYTE, 'b');
  const path = `${begun.headers.get('location')}?digest=${digestOf(second)}`;
  const refused = await push.send('PUT', path, { body: Uint8Array.from(second) });
  expect(await errorOf(refused.clone())).toEqual([403, 'DENIED']);
  expect(await refused.text()).toContain('sources and images of this deployment take 2000000 bytes, of 3000000');
  const small = Buffer.from('a small layer');
  expect((await push.pushBlob(repository, [small])).status).toBe(201);
  expect(await test.database.prisma.registryBlob.count({ where: { deploymentId: id } })).toBe(2);
});

it('a manifest without room is refused too', async () => {
  const { id, repository, push } = await test.deployment();
  await test.database.prisma.registryUpload.create({ data: { id: randomUUID(), deploymentId: id, size: 2_999_990 } });
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const config = {
    mediaType: 'application/vnd.oci.image.config.v1+json',
    digest: digestOf(Buffer.from('{}')),
    size: 2,
  };
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [] }));
  expect(await errorOf(await push.putManifest(repository, 'v1', manifest))).toEqual([403, 'DENIED']);
  expect(await test.database.prisma.registryManifest.count({ where: { deploymentId: id } })).toBe(0);
});

it('the buffers of concurrent layers are limited', async () => {
  const { id, repository, push } = await test.deployment();
  const begun = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
  const { pathname } = new URL(begun.headers.get('location')!, test.origin);
  const token = test.registry.tokens.issue({ deploymentId: id, mayPush: true }, 60_000);
  const authorization = `Bearer ${token}`;
  let sending: ClientRequest | undefined;
  const hold = () => {
    sending = request(test.origin + pathname, { method: 'PATCH', headers: { authorization } });
    // It is refused itself where the other one came first.
    sending.on('error', () => undefined).on('response', hold);
    sending.write('the beginning');
  };
  hold();
  const other = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
  const refused = await waitFor(async () => {
    const answer = await push.send('PATCH', other.headers.get('location')!, { body: new Uint8Array(10) });
    return answer.status === 503 ? answer : null;
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  sending?.destroy();
  await waitFor(async () => (await push.pushBlob(repository, [Buffer.from('a layer')])).status === 201);
});
