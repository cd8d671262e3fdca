import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectRemovals, ObjectStorageUnavailableError } from '@runyard/object-storage';
import { silentLogger } from '@runyard/service-kit';
import { digestOf } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ImageGarbageCollection } from '../src/collection/image-garbage-collection.ts';
import type { FakeDeployments } from './support/fake-deployments.ts';
import { openRemovals, type PushedTo, TestRegistry } from './support/test-registry.ts';

let test: TestRegistry;
let images: ImageGarbageCollection;
beforeAll(async () => {
  test = await TestRegistry.open({ blobLimitBytes: 1_000_000, revisionsKept: 2 });
  images = imagesRemovedBy(test.storage.removals);
});
afterAll(() => test?.close());

const imagesRemovedBy = (
  removals: ObjectRemovals,
  controlPlane: Pick<FakeDeployments, 'namedImages'> = test.deployments,
) =>
  new ImageGarbageCollection({
    database: test.database,
    removals,
    store: test.store,
    controlPlane,
    lease: { name: 'unused images', isMine: async () => true, release: async () => undefined },
    logger: silentLogger,
  });
const deployed = (place: PushedTo, digests: string[]) =>
  test.deployed(
    place,
    digests.map((digest) => `@${digest}`),
  );
const objectsOf = ({ id }: PushedTo) => readdir(join(test.folder, 'objects', 'registry', id));
const statusOf = async ({ repository, push }: PushedTo, digest: string) =>
  (await push.send('HEAD', `/v2/${repository}/manifests/${digest}`)).status;

it('images that only old revisions name are removed with their layers, and what others need stays', async () => {
  const place = await test.deployment();
  const push = (tag: string, layer: string) => place.push.pushImage(place.repository, tag, Buffer.from(layer));
  const shared = await push('latest', 'a layer that two images have');
  const gone = await push('latest', 'a layer of an old image');
  const [third, fourth] = [await push('latest', 'the third'), await push('latest', 'the fourth')];
  const tagged = await push('v1', 'an old image with a tag');
  const unnamed = await push('next', 'of no revision');
  await push('latest', 'the newest');
  await deployed(place, [tagged, gone, shared, third, shared, fourth]);
  const before = (await objectsOf(place)).length;

  await images.remove();
  const statuses = await Promise.all(
    [gone, third, shared, fourth, tagged, unnamed].map((each) => statusOf(place, each)),
  );
  expect(statuses).toEqual([404, 404, 200, 200, 200, 200]);
  // Their layers are removed. The remaining images have the same configuration.
  expect((await objectsOf(place)).length).toBe(before - 2);
  await images.remove();
  expect((await objectsOf(place)).length).toBe(before - 2);
});

it('the serving image stays, however old its revision is', async () => {
  const place = await test.deployment();
  const digests = [];
  for (const layer of ['1', '2', '3', '4']) {
    digests.push(await place.push.pushImage(place.repository, 'latest', Buffer.from(layer)));
  }
  await deployed(place, digests);
  test.deployments.serve(place.id, 1);
  await images.remove();
  expect(await Promise.all(digests.map((digest) => statusOf(place, digest)))).toEqual([200, 404, 200, 200]);
});

it('layers that could not be removed with their image are removed when the storage is back', async () => {
  const place = await test.deployment();
  const digests = [];
  for (const layer of ['1', '2', '3']) {
    digests.push(await place.push.pushImage(place.repository, 'latest', Buffer.from(layer)));
  }
  await deployed(place, digests);
  const before = (await objectsOf(place)).length;
  const away = async () => Promise.reject(new ObjectStorageUnavailableError(new Error('away')));
  await imagesRemovedBy(openRemovals(test.database, { remove: away })).remove();
  expect([await statusOf(place, digests[0]!), (await objectsOf(place)).length]).toEqual([404, before]);
  await test.storage.removals.sweep();
  expect((await objectsOf(place)).length).toBe(before - 1);
});

it('a deployment that control-plane does not answer for keeps no other one from being cleaned up', async () => {
  const layer = Buffer.from('a layer that nobody uses any more');
  await test.storeBaseLayer(layer);
  await test.database.prisma.registryBlob.updateMany({
    where: { digest: digestOf(layer) },
    data: { usedAt: new Date(Date.now() - 26 * 60 * 60_000) },
  });
  const places = [await test.deployment(), await test.deployment()];
  const old: string[] = [];
  for (const place of places) {
    const digests = [];
    for (const content of ['1', '2', '3'])
      digests.push(await place.push.pushImage(place.repository, 'latest', Buffer.from(content)));
    await deployed(place, digests);
    old.push(digests[0]!);
  }
  const asked: string[] = [];
  const collection = imagesRemovedBy(test.storage.removals, {
    async namedImages(id) {
      asked.push(id);
      if (places.filter((place) => asked.includes(place.id)).length === 1) throw new Error('it takes too long');
      return test.deployments.namedImages(id);
    },
  });
  await collection.remove();
  const statuses = await Promise.all(places.map((place, index) => statusOf(place, old[index]!)));
  expect(statuses.sort()).toEqual([200, 404]);
  expect(await test.database.prisma.registryBlob.count({ where: { digest: digestOf(layer) } })).toBe(0);
});

it('layers of base images are removed a day after the last image that had them', async () => {
  const layer = Buffer.from('a layer of a base image');
  await test.storeBaseLayer(layer);
  /** Gives the layer to an image that is made for another deployment. */
  const mount = async () => {
    const { id } = await test.deployment('internal_source');
    await test.store.addDeployment(id, randomUUID());
    expect(await test.store.mountBaseLayer(id, digestOf(layer))).toBe(true);
    return id;
  };
  const id = await mount();
  const { prisma } = test.database;
  const known = () => prisma.registryBlob.count({ where: { digest: digestOf(layer) } });
  const age = () => prisma.registryBlob.updateMany({ data: { usedAt: new Date(Date.now() - 26 * 60 * 60_000) } });
  await age();
  await images.remove();
  expect(await known(), 'an image has it').toBe(2);
  await test.remove(id);
  await test.remove(await mount());
  await images.remove();
  expect(await known(), 'somebody has just used it').toBe(1);
  await age();
  await images.remove();
  expect(await known()).toBe(0);
  expect(await readdir(join(test.folder, 'objects/registry/00000000-0000-0000-0000-000000000000'))).toEqual([]);
});
