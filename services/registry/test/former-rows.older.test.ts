import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cipher } from '@runyard/encryption';
import { RegistryTokens } from '@runyard/image-registry';
import {
  createTestDatabase,
  digestOf,
  ImageClient,
  MANIFEST_TYPE,
  manifestOf,
  startServiceProcess,
  type TestDatabase,
  type TestServiceProcess,
  testRedis,
  waitFor,
  withDatabaseClient,
} from '@runyard/test-kit';
import { type FakeServer, INTERNAL_TOKEN, readRequestBody, startFakeServer } from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrationsDir } from './support/test-registry.ts';

const controlPlaneRoot = fileURLToPath(new URL('../../control-plane/', import.meta.url));
/** An address where nothing listens. */
const NOWHERE = 'http://127.0.0.1:9';
const encryptionKey = randomBytes(32).toString('base64');
const redis = testRedis();

let folder: string;
let former: TestDatabase;
let own: TestDatabase;
let controlPlane: TestServiceProcess;
let line: FakeServer;
/** The number of questions for former rows; every second answer is lost on its way. */
let questions = 0;
/** Bytes of the largest answer. */
let largestAnswer = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-former-images-'));
  [former, own] = await Promise.all([
    createTestDatabase(join(controlPlaneRoot, 'prisma/migrations')),
    createTestDatabase(migrationsDir),
  ]);
  controlPlane = await startServiceProcess({
    entry: join(controlPlaneRoot, 'src/main.ts'),
    env: {
      EVENT_BUS: 'redis',
      TOPIC_PREFIX: redis.prefix,
      ORG_ACCESS_URL: NOWHERE,
      REGISTRY_SERVICE_URL: NOWHERE,
      PUBLIC_URL: 'https://agents.example.com',
      DATA_DIR: folder,
    },
    secrets: {
      DATABASE_URI: former.url,
      REDIS_URI: redis.url,
      DATA_PLANE_KEY: 'shared-by-the-data-planes-of-a-test',
      EVENT_BUS_REDIS_URI: redis.url,
      INTERNAL_TOKEN,
      ENCRYPTION_KEY: encryptionKey,
    },
  });
  line = await startFakeServer(async (req, res) => {
    const { authorization = '' } = req.headers;
    const answer = await fetch(controlPlane.url + req.url!, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: new Uint8Array(await readRequestBody(req)),
    });
    const text = await answer.text();
    largestAnswer = Math.max(largestAnswer, text.length);
    if (req.url === '/internal/images/former-rows' && ++questions % 2 === 0) return res.destroy();
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
});
afterAll(async () => {
  await controlPlane?.stop();
  await line?.close();
  await former?.close();
  await own?.close();
  await redis.close();
  await rm(folder, { recursive: true, force: true });
});

const startRegistry = () =>
  startServiceProcess({
    entry: fileURLToPath(new URL('../src/main.ts', import.meta.url)),
    readyPath: '/ok?check_db=1',
    env: { CONTROL_PLANE_URL: line.url, PUBLIC_URL: 'https://agents.example.com', DATA_DIR: folder },
    secrets: { DATABASE_URI: own.url, INTERNAL_TOKEN },
  });

async function insert(table: string, row: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await withDatabaseClient(former.url, (client) =>
    client.query(`INSERT INTO ${table} (${columns}) VALUES (${places})`, Object.values(row)),
  );
}

async function addDeployment(id: string): Promise<void> {
  const place = { organization_id: randomUUID(), workspace_id: randomUUID(), created_by: randomUUID() };
  const source = { source: 'internal_docker', source_config: '{}', source_revision_config: '{}', status: 'UNUSED' };
  const names = { name: id, slug: id, latest_revision_id: randomUUID(), updated_at: new Date() };
  await insert('deployment', { id, ...place, ...source, ...names });
}

/** Stores an object as older releases did. @returns the parts of the blob that consists of it */
async function putObject(owner: string, bytes: Buffer): Promise<string> {
  const key = `registry/${owner}/${randomUUID()}`;
  const path = join(folder, 'objects', key);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  return JSON.stringify([{ key, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }]);
}

const TABLES = ['registry_blob', 'registry_manifest', 'registry_tag', 'registry_upload'];
async function count(url: string, tables: string[]): Promise<Record<string, number>> {
  return withDatabaseClient(url, async (client) => {
    const counts = tables.map((table) => `SELECT '${table}' AS name, count(*)::int FROM ${table}`);
    const { rows } = await client.query<{ name: string; count: number }>(counts.join(' UNION ALL '));
    return Object.fromEntries(rows.map((row) => [row.name, row.count]));
  });
}

it('images of an older release are moved once, whatever is lost on the way, and pulled as before', async () => {
  const config = Buffer.from('{"architecture":"amd64","os":"linux"}');
  const layer = randomBytes(1_000);
  const base = randomBytes(2_000);
  const baseParts = await putObject('base-layers', base);
  await insert('base_layer', { digest: digestOf(base), size: base.length, parts: baseParts });
  const ids = Array.from({ length: 30 }, () => randomUUID());
  for (const id of ids) {
    await addDeployment(id);
    for (const bytes of [config, layer]) {
      const row = { deployment_id: id, digest: digestOf(bytes), size: bytes.length };
      await insert('registry_blob', { ...row, parts: await putObject(id, bytes) });
    }
    await insert('registry_blob', { deployment_id: id, digest: digestOf(base), size: base.length, parts: baseParts });
    const content = manifestOf(config, [layer, base]);
    const place = { deployment_id: id, repository: 'agent', digest: digestOf(content) };
    await insert('registry_manifest', { ...place, media_type: MANIFEST_TYPE, content });
    await insert('registry_tag', { ...place, tag: 'v1' });
    await insert('registry_upload', { id: randomUUID(), deployment_id: id, changed_at: new Date() });
  }
  // Manifests that are larger than a page.
  const large = ['a', 'b', 'c'].map((letter) => {
    const manifest = JSON.parse(manifestOf(config, [layer]).toString());
    return Buffer.from(JSON.stringify({ ...manifest, annotations: { text: letter.repeat(3_000_000) } }));
  });
  for (const content of large) {
    const place = { deployment_id: ids[0], repository: 'agent', digest: digestOf(content) };
    await insert('registry_manifest', { ...place, media_type: MANIFEST_TYPE, content });
  }
  // Blobs that came in many pieces, of which few are in a page.
  const pieces = Array.from({ length: 10_000 }, (_, number) => ({
    key: `registry/${ids[0]}/${number}`,
    size: 1,
    sha256: '0',
  }));
  const chunked = [...'defghijklm'].map((letter) => digestOf(Buffer.from(letter)));
  for (const digest of chunked) {
    await insert('registry_blob', {
      deployment_id: ids[0],
      digest,
      size: pieces.length,
      parts: JSON.stringify(pieces),
    });
  }

  let registry = await startRegistry();
  expect(largestAnswer).toBeLessThan(6 * 1024 * 1024);
  expect(await count(former.url, [...TABLES, 'base_layer'])).toEqual(
    Object.fromEntries([...TABLES, 'base_layer'].map((table) => [table, 0])),
  );
  expect(await count(own.url, TABLES)).toEqual({
    registry_blob: 3 * ids.length + 1 + chunked.length,
    registry_manifest: ids.length + large.length,
    registry_tag: ids.length,
    registry_upload: ids.length,
  });
  const tokens = new RegistryTokens(INTERNAL_TOKEN);
  const password = (id: string) => tokens.issue({ deploymentId: id, mayPush: true }, 60_000);
  const pull = async (id: string, client = new ImageClient(registry.url, password(id))) => {
    const repository = `/v2/registry/${id}/agent`;
    const manifest = await client.send('GET', `${repository}/manifests/v1`);
    expect(await manifest.text()).toBe(manifestOf(config, [layer, base]).toString());
    for (const bytes of [config, layer, base]) {
      const blob = await client.send('GET', `${repository}/blobs/${digestOf(bytes)}`);
      expect(Buffer.from(await blob.arrayBuffer()).equals(bytes)).toBe(true);
    }
  };
  await pull(ids[0]!);
  // A node of a cluster has a token that control-plane encrypted.
  const content = { deployment: ids[1], push: false, expires: Date.now() + 60_000 };
  const encrypted = new Cipher(encryptionKey).encrypt(JSON.stringify(content), 'registry/token');
  await pull(ids[1]!, new ImageClient(registry.url, encrypted));

  // An image that is deleted leaves the layer of the base to the others.
  const gone = new ImageClient(registry.url, password(ids[2]!));
  expect((await gone.send('DELETE', `/v2/registry/${ids[2]}/agent/manifests/v1`)).status).toBe(202);
  await pull(ids[3]!);
  await registry.stop();
  const asked = questions;
  // It never asks again: nothing that was deleted meanwhile comes back.
  registry = await startRegistry();
  await waitFor(() => pull(ids[3]!).then(() => true));
  expect(questions).toBe(asked);
  await registry.stop();
});
