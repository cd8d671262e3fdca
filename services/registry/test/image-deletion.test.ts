import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf, LIST_TYPE, listOf, MANIFEST_TYPE, manifestOf, referrerOf } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, type PushedTo, TestRegistry } from './support/test-registry.ts';

const CONFIG = Buffer.from('{}');
const NOWHERE = digestOf(Buffer.from('never pushed'));

let test: TestRegistry;
beforeAll(async () => {
  test = await TestRegistry.open({
    blobLimitBytes: 1_000_000,
    max: { deployment: 500_000 },
    revisionsKept: 2,
  });
});
afterAll(() => test?.close());

const remove = ({ repository, push }: PushedTo, reference: string) =>
  push.send('DELETE', `/v2/${repository}/manifests/${reference}`);
const statusesOf = ({ repository, push }: PushedTo, ...references: string[]) =>
  Promise.all(references.map(async (each) => (await push.send('HEAD', `/v2/${repository}/manifests/${each}`)).status));
const objectsOf = ({ id }: PushedTo) => readdir(join(test.folder, 'objects/registry', id));

async function tagsOf({ repository, push }: PushedTo): Promise<string[]> {
  const answer = await push.send('GET', `/v2/${repository}/tags/list`);
  return ((await answer.json()) as { tags: string[] }).tags;
}

async function referrersOf({ repository, push }: PushedTo, subject: string): Promise<string[]> {
  const answer = await push.send('GET', `/v2/${repository}/referrers/${subject}`);
  const { manifests } = (await answer.json()) as { manifests: { digest: string }[] };
  return manifests.map(({ digest }) => digest);
}

/** Pushes a manifest and returns its digest, which is its only name without a tag. */
async function pushed({ repository, push }: PushedTo, manifest: Buffer, tag?: string, type?: string): Promise<string> {
  const answer = await push.putManifest(repository, tag ?? digestOf(manifest), manifest, type);
  if (answer.status !== 201) throw new Error(await answer.text());
  return digestOf(manifest);
}

/** Pushes an image of one layer without a tag. */
async function untagged(place: PushedTo, layer: string): Promise<string> {
  for (const blob of [CONFIG, Buffer.from(layer)]) await place.push.pushBlob(place.repository, [blob]);
  return pushed(place, manifestOf(CONFIG, [Buffer.from(layer)]));
}

describe('a deleted blob', () => {
  const removeBlob = ({ repository, push }: PushedTo, digest: string) =>
    push.send('DELETE', `/v2/${repository}/blobs/${digest}`);

  it('is removed with its bytes when no image contains it', async () => {
    const place = await test.deployment();
    const { repository, push } = place;
    const layer = randomBytes(1_000);
    await push.pushBlob(repository, [layer]);
    expect((await removeBlob(place, digestOf(layer))).status).toBe(202);
    expect((await push.send('HEAD', `/v2/${repository}/blobs/${digestOf(layer)}`)).status).toBe(404);
    expect(await objectsOf(place)).toEqual([]);
    expect(await errorOf(await removeBlob(place, digestOf(layer)))).toEqual([404, 'BLOB_UNKNOWN']);
  });

  it('is refused while an image of the deployment contains it, and can still be pulled', async () => {
    const place = await test.deployment();
    const { repository, push } = place;
    const layer = randomBytes(1_000);
    await push.pushBlob(repository, [layer]);
    await push.pushImage(`${repository}-two`, 'v1', layer);
    expect(await errorOf(await removeBlob(place, digestOf(layer)))).toEqual([403, 'DENIED']);
    const kept = await push.send('GET', `/v2/${repository}/blobs/${digestOf(layer)}`);
    expect(Buffer.from(await kept.arrayBuffer())).toEqual(layer);
    expect((await push.send('DELETE', `/v2/${repository}-two/manifests/v1`)).status).toBe(202);
    expect(await errorOf(await removeBlob(place, digestOf(layer)))).toEqual([404, 'BLOB_UNKNOWN']);
  });

  it('of another deployment does not exist', async () => {
    const [place, other] = [await test.deployment(), await test.deployment()];
    const layer = randomBytes(1_000);
    await other.push.pushBlob(other.repository, [layer]);
    expect(await errorOf(await removeBlob(place, digestOf(layer)))).toEqual([404, 'BLOB_UNKNOWN']);
    expect((await other.push.send('HEAD', `/v2/${other.repository}/blobs/${digestOf(layer)}`)).status).toBe(200);
  });
});

describe('a deleted tag', () => {
  it('is removed, and the last one of an image takes the image and its unshared layers with it', async () => {
    const place = await test.deployment();
    const { repository, push } = place;
    const layer = randomBytes(1_000);
    const digest = await push.pushImage(repository, 'v1', layer);
    await push.pushImage(repository, 'v2', layer);
    await push.pushImage(repository, 'other');
    const before = (await objectsOf(place)).length;

    expect((await remove(place, 'v1')).status).toBe(202);
    expect(await statusesOf(place, 'v1', 'v2', digest)).toEqual([404, 200, 200]);
    expect(await tagsOf(place)).toEqual(['other', 'v2']);
    expect((await remove(place, 'v2')).status).toBe(202);
    expect(await statusesOf(place, 'v2', digest, 'other')).toEqual([404, 404, 200]);
    expect((await push.send('HEAD', `/v2/${repository}/blobs/${digestOf(layer)}`)).status).toBe(404);
    // The layer is deleted. The other image has the same configuration.
    expect((await objectsOf(place)).length).toBe(before - 1);
    expect(await errorOf(await remove(place, 'v2'))).toEqual([404, 'MANIFEST_UNKNOWN']);
  });

  it('leaves a signature with the image that it signs', async () => {
    const place = await test.deployment();
    const image = await place.push.pushImage(place.repository, 'v1', Buffer.from('a layer'), CONFIG);
    const signature = await pushed(place, referrerOf(image, CONFIG), 'signature');
    expect((await remove(place, 'signature')).status).toBe(202);
    expect(await referrersOf(place, image)).toEqual([signature]);
    expect((await remove(place, 'v1')).status).toBe(202);
    expect(await statusesOf(place, image, signature)).toEqual([404, 404]);
  });
});

describe('a manifest that is deleted by its digest', () => {
  it('is removed with its tags and layers, which frees room', async () => {
    const place = await test.deployment();
    const { repository, push } = place;
    const layer = randomBytes(300_000);
    const digest = await push.pushImage(repository, 'v1', layer, CONFIG);
    await pushed(place, manifestOf(CONFIG, [layer]), 'v2');
    const next = randomBytes(300_000);
    const pushNext = () =>
      push.send('POST', `/v2/${repository}/blobs/uploads/?digest=${digestOf(next)}`, { body: Uint8Array.from(next) });
    expect(await errorOf(await pushNext())).toEqual([403, 'DENIED']);

    expect((await remove(place, digest)).status).toBe(202);
    expect(await statusesOf(place, 'v1', 'v2', digest)).toEqual([404, 404, 404]);
    expect(await errorOf(await push.send('GET', `/v2/${repository}/tags/list`))).toEqual([404, 'NAME_UNKNOWN']);
    expect(await objectsOf(place)).toEqual([]);
    expect((await pushNext()).status).toBe(201);
  });

  it('takes its referrers along, except those with a tag', async () => {
    const place = await test.deployment();
    const image = await place.push.pushImage(place.repository, 'v1', Buffer.from('a layer'), CONFIG);
    const signature = await pushed(place, referrerOf(image, CONFIG));
    const contents = await pushed(place, referrerOf(image, CONFIG, { annotations: { a: 'list' } }), 'contents');
    expect((await remove(place, image)).status).toBe(202);
    expect(await statusesOf(place, image, signature, 'contents')).toEqual([404, 404, 200]);
    expect(await referrersOf(place, image)).toEqual([contents]);
  });

  it('does not refer to its subject any more', async () => {
    const place = await test.deployment();
    const image = await place.push.pushImage(place.repository, 'v1', Buffer.from('a layer'), CONFIG);
    const signature = await pushed(place, referrerOf(image, CONFIG));
    expect((await remove(place, signature)).status).toBe(202);
    expect(await referrersOf(place, image)).toEqual([]);
    expect(await statusesOf(place, 'v1')).toEqual([200]);
  });

  it('takes the images of a list along, and none of them can be deleted before it', async () => {
    const place = await test.deployment();
    const [part, shared] = [await untagged(place, 'amd64'), await untagged(place, 'arm64')];
    const tagged = await place.push.pushImage(place.repository, 's390x');
    const list = await pushed(place, listOf([part, shared, tagged]), 'v1', LIST_TYPE);
    await pushed(place, listOf([shared]), 'v2', LIST_TYPE);
    const refused = await remove(place, part);
    expect(await refused.clone().text()).toContain(list);
    expect(await errorOf(refused)).toEqual([403, 'DENIED']);
    expect((await remove(place, list)).status).toBe(202);
    expect(await statusesOf(place, part, shared, tagged)).toEqual([404, 200, 200]);
  });

  it('leaves the layers that others share, however long their manifests are', async () => {
    const place = await test.deployment();
    const layer = Buffer.from('a layer of four images');
    const image = await place.push.pushImage(place.repository, 'v1', layer, CONFIG);
    // The manifests are more than one batch. They are inserted, because the quota of a deployment is too small to push
    // them.
    const others = ['a', 'b', 'c'].map((letter) => {
      const manifest = JSON.parse(manifestOf(CONFIG, [layer]).toString('utf8'));
      return Buffer.from(JSON.stringify({ ...manifest, annotations: { text: letter.repeat(2_000_000) } }));
    });
    await test.database.prisma.registryManifest.createMany({
      data: others.map((content) => ({
        deploymentId: place.id,
        repository: 'agent',
        digest: digestOf(content),
        mediaType: MANIFEST_TYPE,
        content: Uint8Array.from(content),
      })),
    });
    const path = `/v2/${place.repository}/blobs/${digestOf(layer)}`;
    for (const digest of [image, ...others.map((bytes) => digestOf(bytes))]) {
      expect((await place.push.send('HEAD', path)).status).toBe(200);
      expect((await remove(place, digest)).status).toBe(202);
    }
    expect((await place.push.send('HEAD', path)).status).toBe(404);
  });

  it('is deleted once by two concurrent requests', async () => {
    const place = await test.deployment();
    const digest = await place.push.pushImage(place.repository, 'v1');
    const answers = await Promise.all([remove(place, digest), remove(place, digest)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 404]);
  });
});

describe('an image of a revision that runs or can be deployed again', () => {
  it('is not deleted, by any of its names', async () => {
    const place = await test.deployment();
    const push = (tag: string) => place.push.pushImage(place.repository, tag, Buffer.from(tag));
    const [old, byDigest, byTag] = [await push('v1'), await push('v2'), await push('v3')];
    await test.deployed(place, [`@${old}`, `:v2@${byDigest}`, ':v3']);
    for (const [reference, name] of [
      [byDigest, `:v2@${byDigest}`],
      [byTag, ':v3'],
      ['v3', ':v3'],
    ] as const) {
      const refused = await remove(place, reference);
      expect(await refused.clone().text()).toContain(`${place.repository}${name}`);
      expect(await errorOf(refused)).toEqual([403, 'DENIED']);
    }
    // The revision names the digest.
    expect((await remove(place, 'v2')).status).toBe(202);
    expect((await remove(place, old)).status).toBe(202);
    expect(await statusesOf(place, old, 'v2', byDigest, 'v3')).toEqual([404, 404, 200, 200]);
  });

  it('is not deleted in parts, nor while it serves', async () => {
    const place = await test.deployment();
    const part = await untagged(place, 'amd64');
    const list = await pushed(place, listOf([part]), 'v1', LIST_TYPE);
    await test.deployed(place, [`@${list}`, `@${NOWHERE}`, `@${NOWHERE}`]);
    test.deployments.serve(place.id, 1);
    for (const digest of [part, list]) expect(await errorOf(await remove(place, digest))).toEqual([403, 'DENIED']);
    test.deployments.serve(place.id, undefined);
    expect((await remove(place, list)).status).toBe(202);
    expect(await statusesOf(place, part)).toEqual([404]);
  });
});

it('a push during a deletion is either complete or refused', async () => {
  const place = await test.deployment();
  const { repository, push } = place;
  const layer = randomBytes(100);
  for (let round = 0; round < 3; round++) {
    await push.pushImage(repository, 'v1', layer);
    const again = push.pushImage(repository, 'v2', layer).then(
      () => 200,
      () => 404,
    );
    const [outcome, removal] = await Promise.all([again, remove(place, 'v1')]);
    expect(removal.status).toBe(202);
    expect(await statusesOf(place, 'v2')).toEqual([outcome]);
    if (outcome === 404) continue;
    expect((await push.send('HEAD', `/v2/${repository}/blobs/${digestOf(layer)}`)).status).toBe(200);
    await remove(place, 'v2');
  }
});

describe('deleting', () => {
  it('requires a token for pushing, of the same deployment', async () => {
    const [place, other] = [await test.deployment(), await test.deployment()];
    const digest = await place.push.pushImage(place.repository, 'v1');
    const pulling = { ...place, push: test.client(place.id, false) };
    const strange = { ...place, push: other.push };
    const built = { ...place, repository: `registry/${place.id}/runyard-project` };
    for (const each of [pulling, strange, built]) {
      expect(await errorOf(await remove(each, digest))).toEqual([403, 'DENIED']);
    }
    const elsewhere = await test.deployment('external_docker');
    expect(await errorOf(await remove(elsewhere, 'v1'))).toEqual([403, 'DENIED']);
    expect(await errorOf(await remove({ ...other, repository: `${other.repository}-two` }, digest))).toEqual([
      404,
      'MANIFEST_UNKNOWN',
    ]);
    expect(await statusesOf(place, 'v1')).toEqual([200]);
  });

  it('is in the scope that the challenge names', async () => {
    const { repository } = await test.deployment();
    const answer = await fetch(new URL(`/v2/${repository}/manifests/v1`, test.origin), { method: 'DELETE' });
    expect(answer.headers.get('www-authenticate')).toContain(`scope="repository:${repository}:pull,push,delete"`);
    expect(await errorOf(answer)).toEqual([401, 'UNAUTHORIZED']);
  });

  it.each<[string, readonly [number, string]]>([
    ['manifests/v1', [404, 'MANIFEST_UNKNOWN']],
    [`manifests/${NOWHERE}`, [404, 'MANIFEST_UNKNOWN']],
    ['manifests/a%00b', [404, 'MANIFEST_UNKNOWN']],
    ['manifests/sha256:%00', [404, 'MANIFEST_UNKNOWN']],
    [`blobs/${NOWHERE}`, [404, 'BLOB_UNKNOWN']],
    ['blobs/sha256:short', [404, 'BLOB_UNKNOWN']],
    ['tags/list', [405, 'UNSUPPORTED']],
    [`referrers/${NOWHERE}`, [405, 'UNSUPPORTED']],
  ])('is refused for what does not exist or cannot be deleted: %s', async (path, refusal) => {
    const { repository, push } = await test.deployment();
    expect(await errorOf(await push.send('DELETE', `/v2/${repository}/${path}`))).toEqual(refusal);
  });
});
