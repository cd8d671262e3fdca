import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { BuildEnd, PlatformImage, ProjectLayer } from '@runyard/contracts';
import { BuildError, openLocalDirectory } from '@runyard/deployments';
import { PROJECT_REPOSITORY } from '@runyard/image-registry';
import { ObjectStorageUnavailableError } from '@runyard/object-storage';
import { digestOf, type ImageClient } from '@runyard/test-kit';
import { BaseRegistry, LOGIN } from '@runyard/test-kit/base-registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BaseImageSettings } from '../src/base-images/open-base-image.ts';
import type { ImageRevision, ProjectImages } from '../src/project-images/project-images.ts';
import { errorOf, TestRegistry } from './support/test-registry.ts';

const LIMIT_BYTES = 1_048_576;
const BUILD = '0'.repeat(32);
const PUSH_MS = 60_000;

let own: TestRegistry;
let base: BaseRegistry;
let folder: string;
let images: ProjectImages;
/** Sends projects as builders do. */
let results: () => { send(...of: unknown[]): Promise<Extract<BuildEnd, { kind: 'layer' }>> };

beforeAll(async () => {
  [base, folder] = await Promise.all([BaseRegistry.start(), mkdtemp(join(tmpdir(), 'runyard-project-images-'))]);
  own = await TestRegistry.open({ blobLimitBytes: LIMIT_BYTES, baseImage: settings() });
  images = opened();
  const builder = new URL('../../builder/src/results/project-results.ts', import.meta.url).href;
  const { ProjectResults } = await import(builder);
  results = () => new ProjectResults({ client: undefined, registryUrl: own.origin });
});
afterAll(async () => {
  await base?.close();
  await own?.close();
  await rm(folder, { recursive: true, force: true });
});

function settings(changes: Partial<BaseImageSettings> = {}): BaseImageSettings {
  return {
    PROJECT_BASE_IMAGE: base.image,
    PROJECT_BASE_IMAGE_USERNAME: LOGIN.username,
    PROJECT_BASE_IMAGE_PASSWORD: LOGIN.password,
    OUTBOUND_ALLOWED_NETWORKS: ['127.0.0.1/32'],
    ...changes,
  };
}

/** Opens the images with other settings of the platform. */
const opened = (changes: Partial<BaseImageSettings> = {}) => own.openProjectImages(settings(changes));

let projects = 0;
async function project(files: Record<string, string> = {}, config: object = {}): Promise<string> {
  projects += 1;
  const directory = join(folder, String(projects));
  await mkdir(directory);
  const all = { 'langgraph.json': JSON.stringify({ graphs: { agent: './agent.js:graph' }, ...config }), ...files };
  for (const [name, content] of Object.entries(all)) await writeFile(join(directory, name), content);
  return directory;
}

interface Revision extends ImageRevision {
  pull: ImageClient;
}
let revisions = 0;
async function revision(
  source = 'internal_source',
  deploymentId?: string,
  build: string | null = BUILD,
): Promise<Revision> {
  revisions += 1;
  const id = deploymentId ?? (await own.deployment(source)).id;
  return {
    build,
    id: `00000000-0000-4000-8000-${String(revisions).padStart(12, '0')}`,
    deploymentId: id,
    pull: own.client(id, false),
  };
}

const { signal } = new AbortController();
const told: string[] = [];
const say = (line: string) => void told.push(line);

/** Pushes a project as a builder does. */
async function push({ deploymentId }: Revision, directory: string, by = images): Promise<ProjectLayer> {
  const place = { deploymentId, name: PROJECT_REPOSITORY };
  const result = {
    kind: 'layer',
    push_token: own.tokens.issue({ ...place, mayPush: true }, PUSH_MS),
    architecture: await by.findArchitecture(signal),
  };
  const local = await openLocalDirectory({ project_path: directory });
  const { kind: _, ...layer } = await results().send(
    local,
    { deployment_id: deploymentId, result },
    { log: { write: say }, signal },
  );
  return layer;
}

/** Makes an image as control-plane and a builder do together. */
async function make(of: Revision, directory: string, by = images): Promise<PlatformImage> {
  const made = await by.prepare(of, { say, signal });
  if (made) return made;
  return (await by.make(of, await push(of, directory, by), { say, signal })) ?? make(of, directory, by);
}
const found = (of: Revision) => images.prepare(of, { say, signal });
const failing = (of: Revision, directory: string, by = images) =>
  make(of, directory, by).then(
    () => 'it was made',
    (error: unknown) => {
      expect(error).toBeInstanceOf(BuildError);
      return (error as Error).message;
    },
  );

/** Pulls an image as a node does. */
async function pulled({ pull }: Revision, uri: string) {
  const [, repository, digest] = /^agents\.example\.com\/(.+)@(.+)$/.exec(uri)!;
  const get = async (path: string) => {
    const answer = await pull.send('GET', `/v2/${repository}/${path}`);
    expect(answer.status, path).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  };
  const content = await get(`manifests/${digest}`);
  expect(digestOf(content)).toBe(digest);
  const manifest = JSON.parse(content.toString()) as {
    config: { digest: string };
    layers: { digest: string; mediaType: string }[];
    annotations: Record<string, string>;
  };
  const config = JSON.parse((await get(`blobs/${manifest.config.digest}`)).toString());
  const layers = await Promise.all(manifest.layers.map(({ digest: each }) => get(`blobs/${each}`)));
  return { manifest, config, layers };
}

const objects = (owner: string) => readdir(join(own.folder, 'objects/registry', owner)).catch(() => []);

describe('the image of a project', () => {
  it('is the base for this architecture, with its layers, and one more layer, which is the project', async () => {
    const of = await revision();
    const auth = { path: './auth.js:auth', disable_studio_auth: true, allow_langsmith_api_keys: false };
    const env = { N_JOBS_PER_WORKER: '7', MODEL: 'small' };
    const { uri, settings, architecture } = await make(of, await project({ 'agent.js': 'code' }, { auth, env }));
    expect(settings).toEqual({ N_JOBS_PER_WORKER: '7' });
    expect(architecture).toBe(process.arch === 'x64' ? 'amd64' : process.arch);
    const { manifest, config, layers } = await pulled(of, uri);
    expect(config.config).toEqual({
      User: '',
      Entrypoint: ['runyard-agent'],
      Labels: { 'io.runyard.agent-server': '1' },
      WorkingDir: '/deps/project',
      Env: [
        'PATH=/usr/bin',
        'PROJECT_DIR=/deps/project',
        'LANGGRAPH_CONFIG_PATH=langgraph.json',
        `LANGGRAPH_AUTH=${JSON.stringify(auth)}`,
      ],
    });
    expect(config.rootfs.diff_ids).toEqual(layers.map((layer) => digestOf(gunzipSync(layer))));
    expect(config.history).toHaveLength(3);
    expect(new Set(manifest.layers.map(({ mediaType }) => mediaType))).toEqual(
      new Set(['application/vnd.oci.image.layer.v1.tar+gzip']),
    );
    expect(gunzipSync(layers[2]!).toString()).toContain('code');
    expect(manifest.annotations['org.opencontainers.image.base.name']).toBe(base.image);
  });

  it('is the same when it is made again after an interruption at any point', async () => {
    const of = await revision();
    const files = { 'agent.js': 'the same' };
    const { uri } = await make(of, await project(files));
    await images.keepOnly(of.deploymentId, [], []);
    // The image was deleted with its tags, so it is made again.
    expect(await objects(of.deploymentId)).toEqual([]);
    expect(await found(of)).toBeNull();
    expect((await make(of, await project(files), opened())).uri).toBe(uri);
  });

  it('shares the layers of the base that were fetched once, without a token where none is required', async () => {
    base.layersAsked.length = 0;
    const layers = base.publish({ file: 'app/of-this-test.js' });
    const [one, other] = [await revision(), await revision()];
    const made = await make(one, await project({ a: '1' }));
    await make(other, await project({ b: '2' }));
    const asked = base.layersAsked.filter(({ path }) => layers.includes(path));
    expect(asked.filter(({ path }) => path === layers[0])).toHaveLength(1);
    expect(base.layersAsked.map(({ authorization }) => authorization).filter(Boolean)).toEqual([]);
    expect(JSON.stringify((await pulled(one, made.uri)).manifest)).toContain(layers[0]);
  });

  it('stays that of its revision, and is shared by the next revision of the same build until there is a newer base', async () => {
    const of = await revision();
    const directory = await project({ 'agent.js': 'shared' });
    const first = await make(of, directory);
    const second = await revision('internal_source', of.deploymentId);
    expect(await found(second)).toEqual(first);
    base.publish({ file: 'app/newer.js' });
    expect(await found(of)).toEqual(first);
    const third = await revision('internal_source', of.deploymentId);
    const newer = await make(third, directory);
    expect(newer.uri).not.toBe(first.uri);
    expect(await found(of)).toEqual(first);
  });

  it('is removed with its bytes when no revision needs it, and pushed images stay', async () => {
    const { id, repository, push: tool } = await own.deployment('internal_docker');
    await tool.pushImage(repository, 'pushed');
    const pushed = (await objects(id)).length;
    const old = await revision('internal_docker', id, '1'.repeat(32));
    const kept = await revision('internal_docker', id, '2'.repeat(32));
    await make(old, await project({ a: 'old' }));
    const { uri } = await make(kept, await project({ a: 'kept' }));
    await images.keepOnly(id, [kept.id], ['2'.repeat(32)]);
    expect((await objects(id)).length).toBe(pushed + 2);
    expect(await found(old)).toBeNull();
    await pulled(kept, uri);
    expect((await tool.send('HEAD', `/v2/${repository}/manifests/pushed`)).status).toBe(200);
  });

  it('is made again when another image takes the same blobs with it before its manifest is there', async () => {
    const older = await revision('internal_source', undefined, '3'.repeat(32));
    const newer = await revision('internal_source', older.deploymentId, '4'.repeat(32));
    const directory = await project({ 'agent.js': 'the same in both' });
    await make(older, directory);
    expect(await found(newer)).toBeNull();
    const layer = await push(newer, directory);
    await images.keepOnly(older.deploymentId, [], []);
    expect(await images.make(newer, layer, { say, signal })).toBeNull();
    await pulled(newer, (await make(newer, directory)).uri);
  });

  it('takes the place of the former one of its revision, which stays until then', async () => {
    const of = await revision('internal_docker', undefined, null);
    const former = await make(of, await project({ 'agent.js': 'the former one' }));
    const layer = await push(of, await project({ 'agent.js': 'the next one' }));
    const { max } = own.deployments;
    own.deployments.max = { ...max, deployment: 1 };
    await expect(images.make(of, layer, { say, signal })).rejects.toThrow(BuildError);
    own.deployments.max = max;
    await pulled(of, former.uri);
    const next = await make(of, await project({ 'agent.js': 'the next one' }));
    await pulled(of, next.uri);
    expect(next.uri).not.toBe(former.uri);
    expect(await objects(of.deploymentId)).toHaveLength(2);
  });

  it('stays when a revision names it itself, and others are removed all the same', async () => {
    const { id } = await own.deployment('internal_source');
    const of: Revision[] = [];
    for (const number of ['0', '1', '2']) of.push(await revision('internal_source', id, number.repeat(32)));
    for (const each of of) await make(each, await project({ a: each.id }));
    await own.deployments.deploy(id, [`agents.example.com/registry/${id}/runyard-project:${of[1]!.id}`]);
    await images.keepOnly(id, [], []);
    const left = await Promise.all(of.map(found));
    expect(left.map((image) => image !== null)).toEqual([false, true, false]);
  });

  it('cannot be overwritten by a push, and is pulled only with a token of its deployment', async () => {
    const { id, push: tool } = await own.deployment('internal_docker');
    const of = await revision('internal_docker', id);
    const { uri } = await make(of, await project());
    const repository = `registry/${id}/runyard-project`;
    expect(await errorOf(await tool.send('POST', `/v2/${repository}/blobs/uploads/`))).toEqual([403, 'DENIED']);
    const stranger = own.client((await own.deployment()).id, false);
    const path = `/v2/${repository}/manifests/${uri.split('@')[1]}`;
    expect(await errorOf(await stranger.send('GET', path))).toEqual([403, 'DENIED']);
  });

  it("does not contain the targets of the project's links outside of it", async () => {
    const of = await revision();
    const secret = join(folder, 'secret');
    await writeFile(secret, 'a secret of this machine');
    const directory = await project();
    await symlink(secret, join(directory, 'stolen'));
    told.length = 0;
    const { layers } = await pulled(of, (await make(of, directory)).uri);
    expect(gunzipSync(layers[2]!).toString()).not.toContain('a secret of this machine');
    expect(told.join('\n')).toMatch(/stolen leads out of the project/);
  });
});

describe('a build reports why there is no image:', () => {
  it('no base image is configured', async () => {
    const none = opened({ PROJECT_BASE_IMAGE: undefined } as never);
    expect(await failing(await revision(), await project(), none)).toMatch(/PROJECT_BASE_IMAGE.* is not set/);
  });

  it('the registry lacks the image, requires another login, or is unreachable', async () => {
    const [of, directory] = [await revision(), await project()];
    const missing = base.image.replace(':20', ':21');
    expect(await failing(of, directory, opened({ PROJECT_BASE_IMAGE: missing }))).toMatch(/has no manifests\/21/);
    const anybody = opened({ PROJECT_BASE_IMAGE_PASSWORD: undefined } as never);
    expect(await failing(of, directory, anybody)).toMatch(/gives no token .*without a login/);
    const publicOnly = opened({ OUTBOUND_ALLOWED_NETWORKS: [] });
    expect(await failing(of, directory, publicOnly)).toMatch(/must begin with https/);
  });

  it('the image is not a base image, or one for another Node.js', async () => {
    const [of, directory] = [await revision(), await project()];
    base.publish({ labels: {} });
    expect(await failing(of, directory)).toMatch(/is not runyard\/agent-server: it has no label/);
    base.publish({ env: ['NODE_VERSION=4.2.0'] });
    expect(await failing(of, directory)).toMatch(/has Node.js 4, and packages are installed here for/);
    base.publish();
  });

  it('bytes do not match their digest', async () => {
    const of = await revision();
    const [layer] = base.publish({ file: 'app/tampered.js' });
    base.tamper(layer!);
    expect(await failing(of, await project())).toMatch(/is not what its digest says/);
    base.publish();
  });

  it('the image is larger than the registry accepts', async () => {
    const of = await revision();
    const directory = await project({ data: randomBytes(LIMIT_BYTES).toString('base64') });
    expect(await failing(of, directory)).toMatch(/is larger, packed, than the registry takes/);
    expect(await objects(of.deploymentId)).toEqual([]);
    expect(await readdir(join(own.folder, 'temporary'))).toEqual([]);
  });
});

it('while the object storage is unavailable no image is made, and it is made when the storage is back', async () => {
  const of = await revision();
  const directory = await project({ 'agent.js': 'code of an outage' });
  base.publish({ file: 'app/of-an-outage.js' });
  const { objects: storage } = own.storage;
  const put = storage.put.bind(storage);
  storage.put = () => Promise.reject(new ObjectStorageUnavailableError(new Error('away')));
  await expect(make(of, directory)).rejects.toThrow(ObjectStorageUnavailableError);
  storage.put = put;
  await pulled(of, (await make(of, directory)).uri);
  base.publish();
});

it('control-plane has images made, and learns what is wrong, by requests', async () => {
  const of = await revision();
  const request = { deployment_id: of.deploymentId, revision_id: of.id, build: BUILD };
  const ask = (step: string, body: object = request) => own.ask(`/internal/project-images/${step}`, body);
  const { architecture } = (await ask('base', {})) as { architecture: string };
  expect(await ask('prepare')).toMatchObject({ image: null, failure: null });
  const layer = await push(of, await project({ 'agent.js': 'by requests' }));
  const made = (await ask('make', { ...request, layer })) as { image: PlatformImage; log: string[] };
  expect(made).toMatchObject({
    image: { architecture },
    failure: null,
    log: [expect.stringContaining('Made the image')],
  });
  await pulled(of, made.image.uri);
  expect(await ask('prepare')).toEqual({ image: made.image, failure: null, log: [] });
  await ask('keep', { deployment_id: of.deploymentId, revision_ids: [], builds: [] });
  base.publish({ labels: {} });
  expect(await ask('prepare')).toMatchObject({ image: null, failure: expect.stringContaining('it has no label') });
  base.publish();
});

it('an overloaded registry is asked again', async () => {
  base.failures.push(503, 429);
  const of = await revision();
  expect((await make(of, await project())).uri).toContain(of.deploymentId);
});

it("the base image may be in the platform's own registry", async () => {
  const { id, repository, push: tool } = await own.deployment('internal_docker');
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Labels: { 'io.runyard.agent-server': '1' } },
      rootfs: { type: 'layers', diff_ids: [digestOf(Buffer.from('a layer'))] },
    }),
  );
  await tool.pushImage(repository, '20', Buffer.from('a layer'), config);
  const of = await revision();
  const here = opened({ PROJECT_BASE_IMAGE: `agents.example.com/registry/${id}/agent:20` });
  const { layers } = await pulled(of, (await make(of, await project(), here)).uri);
  expect(layers[0]!.toString()).toBe('a layer');
});
