import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectRemovals, ObjectStorageUnavailableError } from '@runyard/object-storage';
import { silentLogger } from '@runyard/service-kit';
import { digestOf, manifestOf, waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ImageGarbageCollection } from '../src/collection/image-garbage-collection.ts';
import { lockImages } from '../src/stored-images/linked-manifests.ts';
import { openRemovals, type PushedTo, TestRegistry } from './support/test-registry.ts';

const DAY_MS = 24 * 60 * 60_000;

let test: TestRegistry;
beforeAll(async () => {
  test = await TestRegistry.open({ blobLimitBytes: 1_000_000 });
});
afterAll(() => test?.close());

const sweep = (removals: ObjectRemovals = test.storage.removals) =>
  new ImageGarbageCollection({
    database: test.database,
    removals,
    store: test.store,
    controlPlane: test.deployments,
    lease: { name: 'unused images', isMine: async () => true, release: async () => undefined },
    logger: silentLogger,
  }).remove();
const config = Buffer.from('{"architecture":"amd64","os":"linux"}');
const objectsOf = ({ id }: PushedTo) => readdir(join(test.folder, 'objects', 'registry', id));
const blobPath = ({ repository }: PushedTo, blob: Buffer) => `/v2/${repository}/blobs/${digestOf(blob)}`;
const statusOf = async (to: PushedTo, blob: Buffer) => (await to.push.send('GET', blobPath(to, blob))).status;
const push = ({ push: client, repository }: PushedTo, blob: Buffer) => client.pushBlob(repository, [blob]);

/** Lets what has been pushed for a deployment so far become older than a day. */
async function age({ id }: PushedTo): Promise<void> {
  const { prisma } = test.database;
  const before = new Date(Date.now() - DAY_MS - 1_000);
  await prisma.registryBlob.updateMany({
    where: { deploymentId: id, awaitsManifestSince: { not: null } },
    data: { awaitsManifestSince: before },
  });
  await prisma.registryUpload.updateMany({ where: { deploymentId: id }, data: { changedAt: before } });
}

it('a layer that no image names after a day is removed with its bytes, and layers of images stay', async () => {
  const to = await test.deployment();
  const [abandoned, layer, recent] = ['of no image', 'of an image', 'just pushed'].map((each) => Buffer.from(each));
  await to.push.pushImage(to.repository, 'latest', layer!, config);
  await push(to, abandoned!);
  await age(to);
  await push(to, recent!);
  for (const _ of ['first sweep', 'second sweep']) {
    await sweep();
    const statuses = await Promise.all([abandoned!, layer!, config, recent!].map((blob) => statusOf(to, blob)));
    expect(statuses).toEqual([404, 200, 200, 200]);
    expect(await objectsOf(to)).toHaveLength(3);
  }
});

it('an upload that nobody went on with for a day is removed with its bytes, and counts no more', async () => {
  const workspaceId = randomUUID();
  const to = await test.deployment('internal_docker', workspaceId);
  const upload = async () => {
    const begun = await to.push.send('POST', `/v2/${to.repository}/blobs/uploads/`);
    const path = begun.headers.get('location')!;
    await to.push.send('PATCH', path, { body: new Uint8Array(1_000) });
    return path;
  };
  const abandoned = await upload();
  await age(to);
  const recent = await upload();
  await sweep();
  const statuses = await Promise.all([abandoned, recent].map(async (path) => (await to.push.send('GET', path)).status));
  expect(statuses).toEqual([404, 204]);
  expect(await objectsOf(to)).toHaveLength(1);
  const owner = { deploymentId: to.id, workspaceId, isForPlatform: false };
  expect(await test.quota.count(owner)).toMatchObject({ deployment: 1_000 });
});

describe('a layer stays for another day when a push', () => {
  const layer = Buffer.from('a layer that is needed again');
  it.each<[string, (to: PushedTo) => Promise<Response>]>([
    ['asks whether it is there', (to) => to.push.send('HEAD', blobPath(to, layer))],
    ['sends it again', (to) => push(to, layer)],
    [
      'mounts it',
      (to) =>
        to.push.send('POST', `/v2/${to.repository}/blobs/uploads/?mount=${digestOf(layer)}&from=${to.repository}`),
    ],
  ])('%s', async (_, need) => {
    const to = await test.deployment();
    await push(to, layer);
    await age(to);
    expect((await need(to)).ok).toBe(true);
    await sweep();
    expect(await statusOf(to, layer)).toBe(200);
    await age(to);
    await sweep();
    expect(await statusOf(to, layer)).toBe(404);
  });
});

it('an image that is pushed while a sweep begins keeps its layers', async () => {
  const to = await test.deployment();
  const layer = Buffer.from('of an image that comes late');
  await push(to, layer);
  await push(to, config);
  await age(to);
  let swept: Promise<void> | undefined;
  await test.database.transact(async (transaction) => {
    await lockImages(transaction, to.id);
    swept = sweep();
    await waitFor(async () => {
      const { rows } = await test.database.pool.query(`
        SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`);
      return rows.length > 0;
    });
    const content = manifestOf(config, [layer]);
    await transaction.registryManifest.create({
      data: {
        ...{ deploymentId: to.id, repository: 'agent', digest: digestOf(content) },
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        content: Uint8Array.from(content),
      },
    });
  });
  await swept;
  expect([await statusOf(to, layer), await statusOf(to, config)]).toEqual([200, 200]);
});

it('an image is refused whose layer a sweep has removed, and is taken when that is pushed again', async () => {
  const to = await test.deployment();
  const layer = Buffer.from('of an image that comes too late');
  await push(to, layer);
  await age(to);
  await sweep();
  await push(to, config);
  const put = () => to.push.putManifest(to.repository, 'v1', manifestOf(config, [layer]));
  expect(await (await put()).json()).toMatchObject({ errors: [{ code: 'MANIFEST_BLOB_UNKNOWN' }] });
  await push(to, layer);
  expect((await put()).status).toBe(201);
});

it('bytes that could not be removed with their layer are removed when the storage is back', async () => {
  const to = await test.deployment();
  const layer = Buffer.from('of no image, while the storage is away');
  await push(to, layer);
  await age(to);
  const away = async () => Promise.reject(new ObjectStorageUnavailableError(new Error('away')));
  await sweep(openRemovals(test.database, { remove: away }));
  expect([await statusOf(to, layer), (await objectsOf(to)).length]).toEqual([404, 1]);
  await test.storage.removals.sweep();
  expect(await objectsOf(to)).toEqual([]);
});

it('the layers of a base that were mounted for an image that was never made go, and free the base', async () => {
  const layer = Buffer.from('a layer of a base image without images');
  await test.storeBaseLayer(layer);
  const { prisma } = test.database;
  const to = await test.deployment('internal_source');
  await test.store.addDeployment(to.id, to.id);
  expect(await test.store.mountBaseLayer(to.id, digestOf(layer))).toBe(true);
  await prisma.registryBlob.updateMany({
    where: { digest: digestOf(layer) },
    data: { usedAt: new Date(Date.now() - 2 * DAY_MS) },
  });
  await age(to);
  await sweep();
  expect(await prisma.registryBlob.count({ where: { digest: digestOf(layer) } })).toBe(0);
});
