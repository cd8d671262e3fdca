import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { digestOf, ImageClient, LIST_TYPE, listOf, manifestOf } from '@runyard/test-kit';
import { BODY_CUTS, sendCutBody } from '@runyard/test-kit/cut-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, TestRegistry } from './support/test-registry.ts';

const LIMIT_BYTES = 1_000_000;
let test: TestRegistry;
beforeAll(async () => {
  test = await TestRegistry.open({ blobLimitBytes: LIMIT_BYTES });
});
afterAll(() => test?.close());

describe('an image', () => {
  it('that was pushed is pulled unchanged, by its tag and its digest', async () => {
    const { id, repository, push } = await test.deployment();
    const layer = randomBytes(200_000);
    const digest = await push.pushImage(repository, 'latest', layer);
    const pull = test.client(id, false);
    for (const reference of ['latest', digest]) {
      const manifest = await pull.send('GET', `/v2/${repository}/manifests/${reference}`);
      expect(manifest.headers.get('docker-content-digest')).toBe(digest);
      expect(digestOf(Buffer.from(await manifest.arrayBuffer()))).toBe(digest);
    }
    const blob = await pull.send('GET', `/v2/${repository}/blobs/${digestOf(layer)}`);
    expect(Buffer.from(await blob.arrayBuffer()).equals(layer)).toBe(true);
    const head = await pull.send('HEAD', `/v2/${repository}/blobs/${digestOf(layer)}`);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(layer.length)]);
    expect(await (await pull.send('GET', `/v2/${repository}/tags/list`)).json()).toMatchObject({ tags: ['latest'] });
  });

  it('is pushed only as long as the push token is valid, however often that is exchanged', async () => {
    const { id } = await test.deployment();
    const password = test.tokens.issue({ deploymentId: id, mayPush: true }, 60_000);
    const trade = async (authorization: string): Promise<string> => {
      const answer = await fetch(new URL('/v2/registry/token', test.origin), { headers: { authorization } });
      const { token, expires_in } = (await answer.json()) as { token: string; expires_in: number };
      expect(expires_in).toBeLessThanOrEqual(60);
      return token;
    };
    const bearer = await trade(`Basic ${Buffer.from(`oauth2accesstoken:${password}`).toString('base64')}`);
    const again = await trade(`Bearer ${bearer}`);
    const end = test.tokens.open(password)!.expiresAt;
    for (const token of [bearer, again]) expect(test.tokens.open(token)!.expiresAt).toBeLessThanOrEqual(end);
  });

  it('is refused in more pieces than its size explains, and its upload may still be ended', async () => {
    const { id, repository, push } = await test.deployment();
    const begun = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
    const location = begun.headers.get('location')!;
    const { prisma } = test.database;
    const piece = randomBytes(1);
    await push.send('PATCH', location, { body: Uint8Array.from(piece) });
    const upload = await prisma.registryUpload.findFirstOrThrow({ where: { deploymentId: id } });
    const parts = Array.from({ length: 1000 }, () => (upload.parts as object[])[0]!);
    await prisma.registryUpload.update({ where: { id: upload.id }, data: { parts, size: parts.length } });
    const answer = await push.send('PATCH', location, { body: Uint8Array.from(piece) });
    expect(await errorOf(answer)).toEqual([413, 'SIZE_INVALID']);
    const digest = digestOf(Buffer.alloc(parts.length, piece));
    expect((await push.send('PUT', `${location}?digest=${digest}`)).status).toBe(201);
  });

  it('is accepted in many pieces, and in one', async () => {
    const { repository, push } = await test.deployment();
    const pieces = [randomBytes(3000), randomBytes(5000), randomBytes(1)];
    expect((await push.pushBlob(repository, pieces)).status).toBe(201);
    const whole = await push.send('GET', `/v2/${repository}/blobs/${digestOf(Buffer.concat(pieces))}`);
    expect(Buffer.from(await whole.arrayBuffer()).equals(Buffer.concat(pieces))).toBe(true);

    const body = randomBytes(2000);
    const path = `/v2/${repository}/blobs/uploads/?digest=${digestOf(body)}`;
    expect((await push.send('POST', path, { body: Uint8Array.from(body) })).status).toBe(201);
    expect((await push.send('HEAD', `/v2/${repository}/blobs/${digestOf(body)}`)).status).toBe(200);
    const mount = `/v2/${repository}-two/blobs/uploads/?mount=${digestOf(body)}&from=${repository}`;
    expect((await push.send('POST', mount)).status).toBe(201);
  });

  it('is read in parts that span several pieces', async () => {
    const { repository, push } = await test.deployment();
    const pieces = [randomBytes(3000), randomBytes(5000), randomBytes(2000)];
    const whole = Buffer.concat(pieces);
    await push.pushBlob(repository, pieces);
    const path = `/v2/${repository}/blobs/${digestOf(whole)}`;
    const read = async (range: string) => {
      const answer = await push.send('GET', path, { headers: { range } });
      return [answer.status, answer.headers.get('content-range'), Buffer.from(await answer.arrayBuffer())] as const;
    };
    expect(await read('bytes=2990-8009')).toEqual([206, 'bytes 2990-8009/10000', whole.subarray(2990, 8010)]);
    expect(await read('bytes=9000-')).toEqual([206, 'bytes 9000-9999/10000', whole.subarray(9000)]);
    expect(await read('bytes=-10')).toEqual([206, 'bytes 9990-9999/10000', whole.subarray(9990)]);
    expect(await read('bytes=0-1,5-6')).toEqual([200, null, whole]);
    const beyond = await push.send('GET', path, { headers: { range: 'bytes=10000-' } });
    expect(beyond.headers.get('content-range')).toBe('bytes */10000');
    expect(await errorOf(beyond)).toEqual([416, 'RANGE_INVALID']);
  });

  it('for several architectures is a list of images, which must exist', async () => {
    const { repository, push } = await test.deployment();
    const put = (bytes: Buffer) => push.putManifest(repository, 'latest', bytes, LIST_TYPE);
    const missing = listOf([digestOf(Buffer.from('nothing'))]);
    expect(await errorOf(await put(missing))).toEqual([404, 'MANIFEST_BLOB_UNKNOWN']);
    const whole = listOf([await push.pushImage(repository, 'amd64')]);
    expect((await put(whole)).headers.get('docker-content-digest')).toBe(digestOf(whole));
    const head = await push.send('HEAD', `/v2/${repository}/manifests/latest`);
    expect([head.headers.get('content-type'), head.headers.get('content-length')]).toEqual([
      LIST_TYPE,
      String(whole.length),
    ]);
  });

  it('is listed with its names and tags, page by page', async () => {
    const { id, repository, push } = await test.deployment();
    expect(await errorOf(await push.send('GET', `/v2/${repository}/tags/list`))).toEqual([404, 'NAME_UNKNOWN']);
    for (const tag of ['v1', 'v2', 'v3']) await push.pushImage(repository, tag);
    await push.pushImage(`registry/${id}/other`, 'v1');
    const pages = async (path: string) => {
      const found: string[][] = [];
      for (let next: string | undefined = path; next !== undefined; ) {
        const answer = await push.send('GET', next);
        const body = (await answer.json()) as { tags?: string[]; repositories?: string[] };
        found.push(body.tags ?? body.repositories ?? []);
        next = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      }
      return found;
    };
    expect(await pages(`/v2/${repository}/tags/list?n=2`)).toEqual([['v1', 'v2'], ['v3']]);
    expect(await pages('/v2/_catalog?n=1')).toEqual([[repository], [`registry/${id}/other`], []]);
  });

  it('with sha512 digests is pushed and pulled by them, also in pieces, and revisions may name them', async () => {
    const place = await test.deployment();
    const { repository, push } = place;
    const [config, layer] = [Buffer.from('{"a":1}'), randomBytes(100_000)];
    const [configDigest, layerDigest] = [digestOf(config, 'sha512'), digestOf(layer, 'sha512')];
    expect((await push.pushBlob(repository, [config], configDigest)).status).toBe(201);
    const pieces = [layer.subarray(0, 40_000), layer.subarray(40_000)];
    const made = await push.pushBlob(repository, pieces, layerDigest);
    expect([made.status, made.headers.get('docker-content-digest')]).toEqual([201, layerDigest]);
    const wrong = await push.pushBlob(repository, [layer], digestOf(config, 'sha512'));
    expect(await errorOf(wrong)).toEqual([400, 'DIGEST_INVALID']);

    const manifest = manifestOf(config, [layer], 'sha512');
    const digest = digestOf(manifest, 'sha512');
    const put = await push.putManifest(repository, digest, manifest);
    expect([put.status, put.headers.get('docker-content-digest')]).toEqual([201, digest]);
    for (const [path, bytes] of [
      [`blobs/${layerDigest}`, layer],
      [`manifests/${digest}`, manifest],
    ] as const) {
      const pulled = await push.send('GET', `/v2/${repository}/${path}`);
      expect(Buffer.from(await pulled.arrayBuffer())).toEqual(bytes);
    }
    await test.deployed(place, [`@${digest}`]);
    expect(await errorOf(await push.send('DELETE', `/v2/${repository}/manifests/${digest}`))).toEqual([403, 'DENIED']);
  });

  it('with bytes that do not match its digest is refused, and leaves nothing', async () => {
    const { id, repository, push } = await test.deployment();
    const wrong = digestOf(Buffer.from('something else'));
    expect(await errorOf(await push.pushBlob(repository, [randomBytes(100)], wrong))).toEqual([400, 'DIGEST_INVALID']);
    expect(await readdir(join(test.folder, 'objects/registry', id))).toEqual([]);
    expect(await errorOf(await push.putManifest(repository, wrong, Buffer.from('{}')))).toEqual([
      400,
      'DIGEST_INVALID',
    ]);
  });

  it('with a missing part is refused', async () => {
    const { repository, push } = await test.deployment();
    const manifest = manifestOf(Buffer.from('{}'), [Buffer.from('never pushed')]);
    expect(await errorOf(await push.putManifest(repository, 'v1', manifest))).toEqual([404, 'MANIFEST_BLOB_UNKNOWN']);
    const here = JSON.parse(manifestOf(Buffer.from('{}'), []).toString('utf8'));
    const elsewhere = { ...here, layers: [{ ...here.config, urls: [] }] };
    const answer = await push.putManifest(repository, 'v1', Buffer.from(JSON.stringify(elsewhere)));
    expect(await errorOf(answer)).toEqual([404, 'MANIFEST_BLOB_UNKNOWN']);
    expect(await errorOf(await push.putManifest(repository, 'v1', Buffer.from('[')))).toEqual([
      400,
      'MANIFEST_INVALID',
    ]);
    expect(await errorOf(await push.putManifest(repository, 'v1', Buffer.alloc(4_194_305)))).toEqual([
      413,
      'SIZE_INVALID',
    ]);
  });

  it('that is too large is refused, and leaves nothing', async () => {
    const { id, repository, push } = await test.deployment();
    const begun = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
    const answer = await push.send('PATCH', begun.headers.get('location')!, { body: new Uint8Array(LIMIT_BYTES + 1) });
    expect(await errorOf(answer)).toEqual([413, 'SIZE_INVALID']);
    expect(await readdir(join(test.folder, 'temporary'))).toEqual([]);
    expect(await test.database.prisma.registryBlob.count({ where: { deploymentId: id } })).toBe(0);
  });

  it.each(BODY_CUTS)('that is refused leaves its connection to the next request: $name', async (cut) => {
    const { id, repository } = await test.deployment();
    const password = test.tokens.issue({ deploymentId: id, mayPush: true }, 60_000);
    const headers = { authorization: `Basic ${Buffer.from(`oauth2accesstoken:${password}`).toString('base64')}` };
    const elsewhere = `${test.origin}/v2/${repository}/blobs/uploads/${randomUUID()}`;
    const answers = await sendCutBody(elsewhere, { cut, method: 'PATCH', headers, next: '/v2/' });
    expect(answers).toEqual({ first: 404, next: 200 });
  });

  it('with pieces out of order is refused, and the answer says how many bytes arrived', async () => {
    const { repository, push } = await test.deployment();
    const begun = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
    const location = begun.headers.get('location')!;
    await push.send('PATCH', location, { body: new Uint8Array(10), headers: { 'content-range': '0-9' } });
    const answer = await push.send('PATCH', location, { body: new Uint8Array(5), headers: { 'content-range': '5-9' } });
    expect(answer.headers.get('range')).toBe('0-9');
    expect(await errorOf(answer)).toEqual([416, 'BLOB_UPLOAD_INVALID']);
    expect((await push.send('DELETE', location)).status).toBe(204);
    expect(await errorOf(await push.send('GET', location))).toEqual([404, 'BLOB_UPLOAD_UNKNOWN']);
  });

  it('whose upload breaks off continues after the client has asked for its position', async () => {
    const { id, repository, push } = await test.deployment();
    const [first, second] = [randomBytes(4_000), randomBytes(6_000)];
    const begun = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
    const location = begun.headers.get('location')!;
    await push.send('PATCH', location, { body: Uint8Array.from(first), headers: { 'content-range': '0-3999' } });
    await new Promise<void>((resolve) => {
      const cut = request(new URL(location, test.origin), {
        method: 'PATCH',
        headers: {
          authorization: `Bearer ${test.tokens.issue({ deploymentId: id, mayPush: true }, 60_000)}`,
          'content-length': second.length,
          'content-range': '4000-9999',
        },
      });
      cut.once('error', () => resolve());
      cut.write(second.subarray(0, 3_000), () => cut.destroy(new Error('cut')));
    });
    const status = await push.send('GET', location);
    expect([status.status, status.headers.get('range')]).toEqual([204, '0-3999']);
    const rest = { body: Uint8Array.from(second), headers: { 'content-range': '4000-9999' } };
    const whole = Buffer.concat([first, second]);
    expect((await push.send('PUT', `${location}?digest=${digestOf(whole)}`, rest)).status).toBe(201);
    const blob = await push.send('GET', `/v2/${repository}/blobs/${digestOf(whole)}`);
    expect(Buffer.from(await blob.arrayBuffer()).equals(whole)).toBe(true);
  });

  it('whose upload is finished twice at once keeps its bytes', async () => {
    const { repository, push } = await test.deployment();
    const layer = randomBytes(4_000);
    const begun = await push.send('POST', `/v2/${repository}/blobs/uploads/`);
    const location = begun.headers.get('location')!;
    await push.send('PATCH', location, { body: Uint8Array.from(layer) });
    const end = async () => (await push.send('PUT', `${location}?digest=${digestOf(layer)}`)).status;
    expect(await Promise.all([end(), end()])).toContain(201);
    await test.storage.removals.sweep();
    const blob = await push.send('GET', `/v2/${repository}/blobs/${digestOf(layer)}`);
    expect(Buffer.from(await blob.arrayBuffer()).equals(layer)).toBe(true);
  });

  it('is removed with its deployment', async () => {
    const { id, repository, push } = await test.deployment();
    await push.pushImage(repository, 'latest');
    await test.remove(id);
    expect(await readdir(join(test.folder, 'objects/registry'))).not.toContain(id);
    expect(await errorOf(await push.send('GET', `/v2/${repository}/tags/list`))).toEqual([404, 'NAME_UNKNOWN']);
    expect(await errorOf(await push.send('POST', `/v2/${repository}/blobs/uploads/`))).toEqual([403, 'DENIED']);
    await test.remove(id);
  });

  it('that is still on its way is not stored for a deployment that was deleted', async () => {
    const { id, repository, push } = await test.deployment();
    const owner = { deploymentId: id, workspaceId: randomUUID(), storage: null };
    const { store } = test;
    await push.pushImage(repository, 'v1');
    const upload = await store.beginUpload(id);
    await test.remove(id);
    // These requests were allowed before the deployment was deleted.
    const gone = { code: 'NAME_UNKNOWN' };
    const part = { key: 'registry/late', size: 1, sha256: '0' };
    await store.addDeployment(id, owner.workspaceId);
    await expect(store.beginUpload(id)).rejects.toMatchObject(gone);
    expect(await store.extendUpload(id, upload, part)).toBe(false);
    await expect(store.finishUpload(id, upload, 'sha256:0')).rejects.toMatchObject(gone);
    await expect(store.mountBaseLayer(id, 'sha256:0')).rejects.toMatchObject(gone);
    const manifest = { digest: 'sha256:0', mediaType: 'x', content: new Uint8Array(1) };
    const content = { tag: 'v1', subject: null, artifactType: null, parts: { kind: 'blob' as const, digests: [] } };
    await expect(store.putManifest({ deploymentId: id, name: 'agent' }, manifest, content)).rejects.toMatchObject(gone);
  });
});

describe('an invalid name, digest or count', () => {
  it.each<[string, string, readonly [number, string]]>([
    ['GET', 'manifests/a%00b', [404, 'MANIFEST_UNKNOWN']],
    ['GET', 'manifests/sha256:%00', [404, 'MANIFEST_UNKNOWN']],
    ['GET', 'blobs/%00', [404, 'BLOB_UNKNOWN']],
    ['GET', 'blobs/uploads/%00', [404, 'BLOB_UPLOAD_UNKNOWN']],
    ['GET', 'tags/list?n=many', [400, 'PAGINATION_NUMBER_INVALID']],
    ['GET', 'tags/list?last=%00', [400, 'NAME_INVALID']],
    ['GET', 'referrers/latest', [400, 'DIGEST_INVALID']],
    ['GET', `referrers/sha256:${'0'.repeat(64)}?last=%00`, [400, 'DIGEST_INVALID']],
    ['PUT', 'manifests/a%00b', [400, 'MANIFEST_INVALID']],
    ['POST', 'blobs/uploads/?digest=%00', [400, 'DIGEST_INVALID']],
  ])('is refused: %s %s', async (method, path, refusal) => {
    const { repository, push } = await test.deployment();
    expect(await errorOf(await push.send(method, `/v2/${repository}/${path}`))).toEqual(refusal);
  });

  it('is not mounted, and the blob has to be pushed', async () => {
    const { repository, push } = await test.deployment();
    expect((await push.send('POST', `/v2/${repository}/blobs/uploads/?mount=%00&from=a/b`)).status).toBe(202);
  });
});

describe('a token', () => {
  it('is required, and is valid for one deployment', async () => {
    const [one, other] = [await test.deployment(), await test.deployment()];
    const digest = await other.push.pushImage(other.repository, 'latest');
    const path = `/v2/${other.repository}/manifests/${digest}`;
    expect(await errorOf(await one.push.send('GET', path))).toEqual([403, 'DENIED']);
    const stranger = await fetch(`${test.origin}${path}`);
    expect(stranger.headers.get('www-authenticate')).toBe(
      `Bearer realm="https://agents.example.com/v2/registry/token",service="agents.example.com",scope="repository:${other.repository}:pull,push"`,
    );
    expect(await errorOf(stranger)).toEqual([401, 'UNAUTHORIZED']);
    expect((await fetch(`${test.origin}/v2/`)).status).toBe(401);
    expect((await one.push.send('GET', '/v2/')).status).toBe(200);
  });

  it('is issued by GET: a client that tries POST first is refused, and can use GET', async () => {
    const { id } = await test.deployment();
    const password = test.tokens.issue({ deploymentId: id, mayPush: true }, 60_000);
    const form = { grant_type: 'password', username: 'oauth2accesstoken', password, service: 'agents.example.com' };
    const answer = await fetch(new URL('/v2/registry/token', test.origin), {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    expect(await errorOf(answer)).toEqual([401, 'UNAUTHORIZED']);
  });

  it('of an older release is asked about by GET alone', async () => {
    const login = Buffer.from(`oauth2accesstoken:s1.0a1b2c3d.${'z'.repeat(80)}`).toString('base64');
    const exchange = (method: string) =>
      fetch(new URL('/v2/registry/token', test.origin), { method, headers: { authorization: `Basic ${login}` } });
    test.deployments.isAway = true;
    try {
      expect(await errorOf(await exchange('POST'))).toEqual([401, 'UNAUTHORIZED']);
      expect((await exchange('GET')).status).toBe(503);
    } finally {
      test.deployments.isAway = false;
    }
  });

  it('of an older release is exchanged for one of this release, with what it permits', async () => {
    const { id, repository, push } = await test.deployment();
    await push.pushImage(repository, 'v1');
    const former = `s1.0a1b2c3d.${'x'.repeat(80)}`;
    test.deployments.formerTokens.set(former, { deploymentId: id, mayPush: false, expiresAt: Date.now() + 60_000 });
    const node = new ImageClient(test.origin, former);
    expect((await node.send('GET', `/v2/${repository}/manifests/v1`)).status).toBe(200);
    expect(await errorOf(await node.send('POST', `/v2/${repository}/blobs/uploads/`))).toEqual([403, 'DENIED']);
    const unknown = new ImageClient(test.origin, `s1.0a1b2c3d.${'y'.repeat(80)}`);
    expect((await unknown.send('GET', `/v2/${repository}/manifests/v1`)).status).toBe(401);
  });

  it('for pulling cannot push, and an expired one does nothing', async () => {
    const { id, repository } = await test.deployment();
    const answer = await test.client(id, false).send('POST', `/v2/${repository}/blobs/uploads/`);
    expect(await errorOf(answer)).toEqual([403, 'DENIED']);
    const over = new ImageClient(test.origin, test.tokens.issue({ deploymentId: id, mayPush: true }, -1));
    expect((await over.send('GET', '/v2/')).status).toBe(401);
  });

  it('pushes nothing while control-plane does not say for whom, and pulls all the same', async () => {
    const { repository, push } = await test.deployment();
    const digest = await push.pushImage(repository, 'v1');
    test.deployments.isAway = true;
    try {
      expect((await push.send('POST', `/v2/${repository}/blobs/uploads/`)).status).toBe(503);
      expect((await push.send('DELETE', `/v2/${repository}/manifests/v1`)).status).toBe(503);
      expect((await push.send('GET', `/v2/${repository}/manifests/${digest}`)).status).toBe(200);
    } finally {
      test.deployments.isAway = false;
    }
  });

  it('for pushing does not write to what is the platform itself to write', async () => {
    const { id, push } = await test.deployment();
    const own = `registry/${id}/runyard-project`;
    const base = 'registry/00000000-0000-0000-0000-000000000000/base-layers';
    for (const repository of [own, base]) {
      expect(await errorOf(await push.send('POST', `/v2/${repository}/blobs/uploads/`))).toEqual([403, 'DENIED']);
    }
    const forAll = test.client('00000000-0000-0000-0000-000000000000', true);
    expect(await errorOf(await forAll.send('POST', `/v2/${base}/blobs/uploads/`))).toEqual([403, 'DENIED']);
    expect(await errorOf(await push.send('GET', `/v2/${base}/tags/list`))).toEqual([403, 'DENIED']);
  });

  it('gives nobody the layers of base images, which images of all deployments share, and nobody deletes them', async () => {
    const layer = Buffer.from('a layer of all');
    await test.storeBaseLayer(layer);
    const { id } = await test.deployment();
    const making = test.client(id, true, 'runyard-project');
    const from = 'registry/00000000-0000-0000-0000-000000000000/base-layers';
    const mount = `/v2/registry/${id}/runyard-project/blobs/uploads/?mount=${digestOf(layer)}&from=${from}`;
    expect((await making.send('POST', mount)).status).toBe(202);
    const forged = test.client('00000000-0000-0000-0000-000000000000', true);
    expect((await forged.send('DELETE', `/v2/${from}/blobs/${digestOf(layer)}`)).status).toBe(403);
  });

  it('for one repository reads and writes no other of its deployment', async () => {
    const { id, repository, push } = await test.deployment();
    const digest = await push.pushImage(repository, 'v1');
    const one = test.client(id, true, 'other');
    for (const path of [`manifests/${digest}`, 'tags/list'])
      expect(await errorOf(await one.send('GET', `/v2/${repository}/${path}`))).toEqual([403, 'DENIED']);
    expect(await errorOf(await one.send('POST', `/v2/${repository}/blobs/uploads/`))).toEqual([403, 'DENIED']);
    expect(await errorOf(await one.send('GET', '/v2/_catalog'))).toEqual([403, 'DENIED']);
    expect((await one.send('POST', `/v2/registry/${id}/other/blobs/uploads/`)).status).toBe(202);
  });

  it('mounts nothing of another deployment', async () => {
    const [one, other] = [await test.deployment(), await test.deployment()];
    const layer = randomBytes(100);
    await other.push.pushImage(other.repository, 'v1', layer);
    const mount = (repository: string, from: string, client = one.push) =>
      client.send('POST', `/v2/${repository}/blobs/uploads/?mount=${digestOf(layer)}&from=${from}`);
    expect((await mount(one.repository, other.repository)).status).toBe(202);
    const ofProject = test.client(one.id, true, 'runyard-project');
    expect((await mount(`registry/${one.id}/runyard-project`, other.repository, ofProject)).status).toBe(202);
    expect((await one.push.send('HEAD', `/v2/${one.repository}/blobs/${digestOf(layer)}`)).status).toBe(404);
  });

  it('does not work for a deployment that accepts no images', async () => {
    const { repository, push } = await test.deployment('external_docker');
    expect(await errorOf(await push.send('POST', `/v2/${repository}/blobs/uploads/`))).toEqual([403, 'DENIED']);
  });
});
