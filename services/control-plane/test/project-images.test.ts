import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { BuildEnd } from '@runyard/contracts';
import { BuildError, type ImageArtifact, openLocalDirectory } from '@runyard/deployments';
import { isBlobGone, RegistryUnavailableError } from '@runyard/image-registry';
import type { Lifecycle } from '@runyard/service-kit';
import { digestOf, type ImageClient } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRevisionImages, type ProjectImageSettings } from '../src/project-images/open-revision-images.ts';
import type { RevisionImages } from '../src/project-images/revision-images.ts';
import { BaseRegistry, LOGIN } from './support/base-registry.ts';
import { OwnRegistry } from './support/own-registry.ts';

const LIMIT_BYTES = 1_048_576;
const BUILD = '0'.repeat(32);

let own: OwnRegistry;
let base: BaseRegistry;
let folder: string;
let images: RevisionImages;
/** Sends projects as builders do. */
let results: () => { send(...of: unknown[]): Promise<Extract<BuildEnd, { kind: 'layer' }>> };
const closings: (() => Promise<unknown>)[] = [];
const lifecycle: Pick<Lifecycle, 'onStop'> = { onStop: (_, close) => void closings.push(async () => close()) };

beforeAll(async () => {
  [own, base, folder] = await Promise.all([
    OwnRegistry.start({ REGISTRY_BLOB_LIMIT_BYTES: String(LIMIT_BYTES) }),
    BaseRegistry.start(),
    mkdtemp(join(tmpdir(), 'runyard-project-images-')),
  ]);
  images = opened();
  const builder = new URL('../../builder/src/results/project-results.ts', import.meta.url).href;
  const { ProjectResults } = await import(builder);
  results = () => new ProjectResults({ client: undefined, registryUrl: own.lineUrl });
});
afterAll(async () => {
  for (const close of closings) await close();
  await base?.close();
  await own?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens the images with the platform's settings. */
function opened(changes: Partial<ProjectImageSettings> = {}): RevisionImages {
  const config: ProjectImageSettings = {
    PROJECT_BASE_IMAGE: base.image,
    PROJECT_BASE_IMAGE_USERNAME: LOGIN.username,
    PROJECT_BASE_IMAGE_PASSWORD: LOGIN.password,
    OUTBOUND_ALLOWED_NETWORKS: ['127.0.0.1/32'],
    ...changes,
  };
  return openRevisionImages(config, { registry: own, repositories: own.repositories, lifecycle });
}

let projects = 0;
async function project(files: Record<string, string> = {}, config: object = {}): Promise<string> {
  projects += 1;
  const directory = join(folder, String(projects));
  await mkdir(directory);
  const all = { 'langgraph.json': JSON.stringify({ graphs: { agent: './agent.js:graph' }, ...config }), ...files };
  for (const [name, content] of Object.entries(all)) await writeFile(join(directory, name), content);
  return directory;
}

interface Revision {
  id: string;
  deploymentId: string;
  pull: ImageClient;
}
let revisions = 0;
/** Returns the status and the code of an error. */
async function errorOf(answer: Response): Promise<readonly [number, string | undefined]> {
  return [answer.status, ((await answer.json()) as { errors: { code: string }[] }).errors[0]?.code];
}

async function revision(source = 'internal_source', deploymentId?: string): Promise<Revision> {
  revisions += 1;
  const id = deploymentId ?? own.deployment(source).id;
  return {
    id: `00000000-0000-4000-8000-${String(revisions).padStart(12, '0')}`,
    deploymentId: id,
    pull: own.client(id, false),
  };
}

const { signal } = new AbortController();
const told: string[] = [];
const say = (line: string) => void told.push(line);

/** Makes an image as control-plane and a builder do together. */
async function make(
  of: Revision,
  directory: string,
  by = images,
  build: string | null = BUILD,
): Promise<ImageArtifact> {
  const made = await by.prepare(of, build, { say, signal });
  if (made) return made;
  const { deploymentId } = of;
  const result = {
    kind: 'layer',
    push_token: by.issuePushToken(deploymentId),
    architecture: await by.findArchitecture(signal),
  };
  const local = await openLocalDirectory({ project_path: directory });
  const log = { write: say };
  const layer = await results().send(local, { deployment_id: deploymentId, result }, { log, signal });
  try {
    return await by.make(of, build, layer, { say, signal });
  } catch (error) {
    if (isBlobGone(error)) return make(of, directory, by, build);
    throw error;
  }
}
const failing = (of: Revision, directory: string, by = images) =>
  make(of, directory, by).then(
    () => 'it was made',
    (error: unknown) => {
      expect(error).toBeInstanceOf(BuildError);
      return (error as Error).message;
    },
  );

/** Pulls an image as a node does. */
async function pulled({ pull }: Revision, imageUri: string) {
  const [, repository, digest] = /^agents\.example\.com\/(.+)@(.+)$/.exec(imageUri)!;
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
    const auth = { path: './auth.js:auth', disable_studio_auth: true };
    const env = { N_JOBS_PER_WORKER: '7', MODEL: 'small' };
    const { imageUri, settings, architecture } = await make(of, await project({ 'agent.js': 'code' }, { auth, env }));
    expect(settings).toEqual({ N_JOBS_PER_WORKER: '7' });
    expect(architecture).toBe(process.arch === 'x64' ? 'amd64' : process.arch);
    const { manifest, config, layers } = await pulled(of, imageUri);
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
    const { imageUri } = await make(of, await project(files));
    await images.keepOnly(of.deploymentId, [], []);
    expect(await images.find(of)).toBeNull();
    // The image was deleted with its tags, so it is made again.
    expect(await objects(of.deploymentId)).toEqual([]);
    expect((await make(of, await project(files), opened())).imageUri).toBe(imageUri);
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
    expect(JSON.stringify((await pulled(one, made.imageUri)).manifest)).toContain(layers[0]);
  });

  it('stays that of its revision, and is shared by the next revision of the same build until there is a newer base', async () => {
    const of = await revision();
    const directory = await project({ 'agent.js': 'shared' });
    const first = await make(of, directory);
    const second = await revision('internal_source', of.deploymentId);
    expect(await images.prepare(second, BUILD, { say, signal })).toEqual(first);
    base.publish({ file: 'app/newer.js' });
    expect(await images.prepare(of, BUILD, { say, signal })).toEqual(first);
    const third = await revision('internal_source', of.deploymentId);
    const newer = await make(third, directory);
    expect(newer.imageUri).not.toBe(first.imageUri);
    expect(await images.find(of)).toEqual(first);
  });

  it('is removed with its bytes when no revision needs it, and pushed images stay', async () => {
    const { id, repository, push } = own.deployment('internal_docker');
    await push.pushImage(repository, 'pushed');
    const pushed = (await objects(id)).length;
    const [old, kept] = [await revision('internal_docker', id), await revision('internal_docker', id)];
    await make(old, await project({ a: 'old' }), images, '1'.repeat(32));
    const { imageUri } = await make(kept, await project({ a: 'kept' }), images, '2'.repeat(32));
    await images.keepOnly(id, [kept.id], ['2'.repeat(32)]);
    expect([await images.find(old), (await objects(id)).length]).toEqual([null, pushed + 2]);
    await pulled(kept, imageUri);
    expect((await push.send('HEAD', `/v2/${repository}/manifests/pushed`)).status).toBe(200);
  });

  it('is made again when another image takes the same blobs with it before its manifest is there', async () => {
    const [older, newer] = [await revision(), await revision()];
    const of = { ...newer, deploymentId: older.deploymentId };
    const directory = await project({ 'agent.js': 'the same in both' });
    await make(older, directory, images, '3'.repeat(32));
    own.beforeManifest = async () => {
      own.beforeManifest = undefined;
      await images.keepOnly(older.deploymentId, [], []);
    };
    const { imageUri } = await make(of, directory, images, '4'.repeat(32));
    await pulled({ ...of, pull: older.pull }, imageUri);
  });

  it('takes the place of the former one of its revision, which stays until then', async () => {
    const of = await revision('internal_docker');
    const makeFrom = async (code: string) => make(of, await project({ 'agent.js': code }), images, null);
    const former = await makeFrom('the former one');
    own.beforeManifest = async (reference) => {
      if (reference === of.id) throw new Error('the connection breaks');
    };
    await expect(makeFrom('the next one')).rejects.toThrow(RegistryUnavailableError);
    own.beforeManifest = undefined;
    expect(await images.find(of)).toEqual(former);
    const next = await makeFrom('the next one');
    expect(await images.find(of)).toEqual(next);
    expect(await objects(of.deploymentId)).toHaveLength(2);
  });

  it('stays when a revision names it itself, and others are removed all the same', async () => {
    const of = [await revision()];
    const { deploymentId } = of[0]!;
    for (let number = 1; number < 3; number += 1) of.push(await revision('internal_source', deploymentId));
    for (const [number, each] of of.entries())
      await make(each, await project({ a: `${number}` }), images, `${number}`.repeat(32));
    own.needed = [`agents.example.com/registry/${deploymentId}/runyard-project:${of[1]!.id}`];
    await images.keepOnly(deploymentId, [], []);
    own.needed = [];
    const found = await Promise.all(of.map((each) => images.find(each)));
    expect(found.map((image) => image !== null)).toEqual([false, true, false]);
  });

  it('cannot be overwritten by a push, and is pulled only with a token of its deployment', async () => {
    const { id, push } = own.deployment('internal_docker');
    const of = await revision('internal_docker', id);
    const { imageUri } = await make(of, await project());
    const repository = `registry/${id}/runyard-project`;
    expect(await errorOf(await push.send('POST', `/v2/${repository}/blobs/uploads/`))).toEqual([403, 'DENIED']);
    const stranger = own.client(own.deployment().id, false);
    const path = `/v2/${repository}/manifests/${imageUri.split('@')[1]}`;
    expect(await errorOf(await stranger.send('GET', path))).toEqual([403, 'DENIED']);
  });

  it("does not contain the targets of the project's links outside of it", async () => {
    const of = await revision();
    const secret = join(folder, 'secret');
    await writeFile(secret, 'a secret of this machine');
    const directory = await project();
    await symlink(secret, join(directory, 'stolen'));
    told.length = 0;
    const { layers } = await pulled(of, (await make(of, directory)).imageUri);
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
    expect(await readdir(join(own.folder, 'registry'))).toEqual([]);
  });
});

describe('while the registry is unavailable', () => {
  it.each([
    ['before the base is stored', 0],
    ['before the project is stored', 1],
    ['in the middle of the image', 2],
  ])('%s, no image is made and the revision does not fail; it is made when the registry is back', async (_, kept) => {
    const of = await revision();
    const directory = await project({ 'agent.js': `code of ${kept}` });
    base.publish({ file: `app/kept-${kept}.js` });
    await images.checkStorage(signal);
    const there = opened();
    own.left = kept;
    await expect(make(of, directory, there)).rejects.toThrow(RegistryUnavailableError);
    own.left = 0;
    await expect(there.checkStorage(signal)).rejects.toThrow(RegistryUnavailableError);
    own.left = Number.POSITIVE_INFINITY;
    await pulled(of, (await make(of, directory, there)).imageUri);
    base.publish();
  });
});

it('an overloaded registry is asked again', async () => {
  base.failures.push(503, 429);
  const of = await revision();
  expect((await make(of, await project())).imageUri).toContain(of.deploymentId);
});

it("the base image may be in the platform's own registry", async () => {
  const { id, repository, push } = own.deployment('internal_docker');
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Labels: { 'io.runyard.agent-server': '1' } },
      rootfs: { type: 'layers', diff_ids: [digestOf(Buffer.from('a layer'))] },
    }),
  );
  await push.pushImage(repository, '20', Buffer.from('a layer'), config);
  const of = await revision();
  const here = opened({ PROJECT_BASE_IMAGE: `agents.example.com/registry/${id}/agent:20` });
  const { layers } = await pulled(of, (await make(of, await project(), here)).imageUri);
  expect(layers[0]!.toString()).toBe('a layer');
});
