import { randomUUID } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import type { StorageLimits } from '@runyard/contracts';
import { digestOf, waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorageQuota } from '../src/storage-quota/storage-quota.ts';
import { errorOf, type PushedTo, TestRegistry } from './support/test-registry.ts';

const MEGABYTE = 1_000_000;
let test: TestRegistry;
beforeAll(async () => {
  test = await TestRegistry.open({ blobLimitBytes: 5 * MEGABYTE, limits: { HTTP_MAX_BODY_BYTES_IN_FLIGHT: 1000 } });
});
afterAll(() => test?.close());

describe('stored images', () => {
  const storedFor = (id: string, bytes: number) =>
    test.database.prisma.registryUpload.create({ data: { id: randomUUID(), deploymentId: id, size: bytes } });
  const inWorkspace = async (workspaceId: string) => {
    const { id } = await test.deployment('internal_docker', workspaceId);
    await test.store.addDeployment(id, workspaceId);
    return id;
  };
  const none = { deployment: 0, workspace: 0, platform: 0 };
  const roomOf = (id: string, workspaceId: string, storage: Partial<StorageLimits> = {}) =>
    test.quota.room({
      deploymentId: id,
      workspaceId,
      storage: { sources: none, max: { deployment: 1000, workspace: 1500, platform: null }, ...storage },
    });

  it('have a limit for a deployment, together with its sources', async () => {
    const workspace = randomUUID();
    const id = await inWorkspace(workspace);
    const { prisma } = test.database;
    await storedFor(id, 100);
    await prisma.registryBlob.create({ data: { deploymentId: id, digest: 'a', size: 200, parts: [] } });
    // A base layer counts for no deployment, because all images share it.
    const shared = { digest: 'b', size: 5000, parts: [], isShared: true };
    await prisma.registryBlob.create({ data: { deploymentId: id, ...shared } });
    const manifest = { repository: 'agent', digest: 'c', mediaType: 'x', content: Buffer.alloc(100) };
    await prisma.registryManifest.create({ data: { deploymentId: id, ...manifest } });
    const room = await roomOf(id, workspace, { sources: { deployment: 300, workspace: 300, platform: 300 } });
    expect(room).toMatchObject({
      bytes: 300,
      refusal: {
        status: 507,
        message:
          'There is no room for it: sources, builds and images of this deployment take 700 bytes, of 1000 that they may.',
      },
    });
    const question = { deployment_id: id, workspace_id: workspace, is_for_platform: false };
    const sums = { deployment: 400, workspace: 400, platform: 0 };
    expect(await test.ask('/internal/images/stored-bytes', question)).toEqual(sums);
  });

  it('have a limit for a workspace, independent of others', async () => {
    const workspace = randomUUID();
    const [one, other] = [await inWorkspace(workspace), await inWorkspace(workspace)];
    await storedFor(one, 900);
    await storedFor(await inWorkspace(randomUUID()), 900);
    const { bytes, refusal } = await roomOf(other, workspace);
    expect([bytes, refusal.message]).toEqual([
      600,
      expect.stringContaining('sources, builds and images of this workspace take 900 bytes'),
    ]);
  });

  it('have a limit for the platform and for the disk, whose message says nothing of others', async () => {
    const workspace = randomUUID();
    const id = await inWorkspace(workspace);
    await storedFor(id, 1);
    const full = 'the storage of the platform is full.';
    const max = { deployment: 1000, workspace: 1500, platform: 1 };
    expect((await roomOf(id, workspace, { max })).refusal.message).toContain(full);
    const disk = { folder: test.folder, minFreeBytes: Number.MAX_SAFE_INTEGER };
    const quota = new StorageQuota({ pool: test.database.pool, disk });
    const room = await quota.room({ deploymentId: id, workspaceId: null, storage: null });
    expect([room.bytes < 0, room.refusal.message]).toEqual([true, expect.stringContaining(full)]);
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
  expect(await refused.text()).toContain(
    'sources, builds and images of this deployment take 2000000 bytes, of 3000000',
  );
  const small = Buffer.from('a small layer');
  expect((await push.pushBlob(repository, [small])).status).toBe(201);
  expect(await test.database.prisma.registryBlob.count({ where: { deploymentId: id } })).toBe(2);
});

it('a manifest without room is refused too', async () => {
  const { id, repository, push } = await test.deployment();
  await push.send('POST', `/v2/${repository}/blobs/uploads/`);
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
  const token = test.tokens.issue({ deploymentId: id, mayPush: true }, 60_000);
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

describe('layers that are being received', () => {
  const MEBIBYTE = 1024 * 1024;
  let wide: TestRegistry;
  beforeAll(async () => {
    const max = { deployment: 20 * MEBIBYTE, workspace: 1000 * MEBIBYTE };
    wide = await TestRegistry.open({ blobLimitBytes: 40 * MEBIBYTE, max });
  });
  afterAll(() => wide?.close());

  /** Begins to send a layer. */
  async function sendSlowly({ id, repository, push }: PushedTo, bytes: number) {
    const begun = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
    const { pathname } = new URL(begun.headers.get('location')!, wide.origin);
    const authorization = `Bearer ${wide.tokens.issue({ deploymentId: id, mayPush: true }, 60_000)}`;
    const sending = request(wide.origin + pathname, { method: 'PATCH', headers: { authorization } });
    const answer = new Promise<number>((resolve, reject) => {
      sending.on('error', reject).on('response', (res) => resolve(res.resume().statusCode!));
    });
    answer.catch(() => undefined);
    sending.write(Buffer.alloc(bytes));
    return { sending, answer };
  }
  const workspaceId = randomUUID();
  const open = () => wide.deployment('internal_docker', workspaceId);
  const storedFor = async ({ id }: PushedTo) =>
    (await wide.quota.count({ deploymentId: id, workspaceId, isForPlatform: false })).deployment;

  it('count for other pushes, until they break off', async () => {
    const to = await open();
    const first = await sendSlowly(to, 17 * MEBIBYTE);
    await waitFor(async () => (await storedFor(to)) >= 16 * MEBIBYTE);
    const other = await to.push.send('POST', `/v2/${to.repository}/blobs/uploads/`);
    const send = () => to.push.send('PATCH', other.headers.get('location')!, { body: new Uint8Array(4 * MEBIBYTE) });
    expect(await errorOf(await send())).toEqual([403, 'DENIED']);
    first.sending.destroy();
    await waitFor(async () => (await storedFor(to)) === 0);
    expect((await send()).status).toBe(202);
  });

  it('do not exceed a limit together', async () => {
    const to = await open();
    const all: Awaited<ReturnType<typeof sendSlowly>>[] = [];
    for (let number = 0; number < 4; number += 1) all.push(await sendSlowly(to, 6 * MEBIBYTE));
    for (const { sending } of all) sending.end();
    const statuses = await Promise.all(all.map(({ answer }) => answer));
    expect(statuses).toContain(403);
    expect(await storedFor(to)).toBe(statuses.filter((status) => status === 202).length * 6 * MEBIBYTE);
    expect(await storedFor(to)).toBeLessThanOrEqual(20 * MEBIBYTE);
  });
});
