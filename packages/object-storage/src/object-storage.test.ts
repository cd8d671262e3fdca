import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '@runyard/service-kit';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FolderStorage } from './folder-storage.ts';
import { checkAvailable, type ObjectStorage } from './object-storage.ts';
import { S3Storage } from './s3-storage.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-objects-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts a server that implements the S3 protocol and checks signatures. */
async function startS3(): Promise<{ endpoint: string; close(): Promise<void> }> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: join(folder, 's3'),
    configureBuckets: [{ name: 'sources', configs: [] }],
  });
  await server.configureBuckets();
  const { port } = await server.run();
  return { endpoint: `http://127.0.0.1:${port}`, close: () => server.close() };
}

const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

describe.each<[string, () => Promise<{ storage: ObjectStorage; close(): Promise<void> }>]>([
  ['a folder', async () => ({ storage: new FolderStorage(join(folder, 'objects')), close: async () => {} })],
  [
    'a bucket',
    async () => {
      const s3 = await startS3();
      const storage = new S3Storage({ ...keys, ...s3, bucket: 'sources', prefix: 'runyard', region: 'us-east-1' });
      return {
        storage,
        async close() {
          storage.close();
          await s3.close();
        },
      };
    },
  ],
])('objects in %s', (_, open) => {
  let storage: ObjectStorage;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ storage, close } = await open());
  });
  afterAll(() => close());

  const put = async (path: string, content: string) => {
    const file = join(folder, 'file');
    await writeFile(file, content);
    await storage.put(path, file);
  };
  const read = async (path: string) => {
    const stream = await storage.open(path);
    return stream && text(stream);
  };

  it('are read as they were written, and replaced by the next one at their path', async () => {
    await put('a/b/one.tar.gz', 'one');
    expect(await read('a/b/one.tar.gz')).toBe('one');
    await put('a/b/one.tar.gz', 'x'.repeat(3_000_000));
    expect(await read('a/b/one.tar.gz')).toHaveLength(3_000_000);
  });

  it('exist from when they were written until they are removed', async () => {
    expect(await storage.exists('e/one')).toBe(false);
    await put('e/one', 'one');
    expect(await storage.exists('e/one')).toBe(true);
    await storage.remove('e/one');
    expect(await storage.exists('e/one')).toBe(false);
  });

  it('that do not exist are null, and can be removed', async () => {
    expect(await read('a/b/missing')).toBeNull();
    await storage.remove('a/b/missing');
  });

  it('are removed one by one, and all together below a prefix', async () => {
    for (const path of ['c/1', 'c/2', 'c/d/3', 'ce/4']) await put(path, path);
    await storage.remove('c/1');
    expect(await read('c/1')).toBeNull();
    expect(await read('c/2')).toBe('c/2');
    await storage.removeBelow('c/');
    expect([await read('c/2'), await read('c/d/3'), await read('ce/4')]).toEqual([null, null, 'ce/4']);
    await storage.removeBelow('nothing/');
  });
});

describe('a bucket', () => {
  /** Opens the storage of a server with these answers. */
  async function bucketOf(answer: RequestListener, port?: number): Promise<ObjectStorage> {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${port ?? (server.address() as AddressInfo).port}`;
    const storage = new S3Storage({ ...keys, endpoint, bucket: 'sources', prefix: '', region: 'us-east-1' });
    onTestFinished(() => {
      storage.close();
      server.close();
      server.closeAllConnections();
    });
    return storage;
  }
  const answering = (status: number, code: string) =>
    bucketOf((_, res) => void res.writeHead(status).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`));
  const away = { name: 'ObjectStorageUnavailableError', status: 503, code: 'object_storage_unavailable' };

  it.each([
    ['fails', () => answering(500, 'InternalError')],
    ['is overloaded', () => answering(503, 'ServiceUnavailable')],
    ['does not run', async () => bucketOf(() => undefined, await freePort())],
    ['hangs up', () => bucketOf((req) => void req.destroy())],
  ])('whose server %s is unavailable', async (_, open) => {
    const storage = await open();
    await expect(storage.open('a')).rejects.toMatchObject(away);
    await expect(storage.exists('a')).rejects.toMatchObject(away);
    await expect(storage.remove('a')).rejects.toMatchObject(away);
  });

  it('whose server hangs up in the middle of an object is unavailable', async () => {
    const storage = await bucketOf((req, res) => {
      res.writeHead(200, { 'content-length': 100 });
      res.write('the beginning', () => req.destroy());
    });
    await expect(text((await storage.open('a'))!)).rejects.toMatchObject(away);
  });

  it('that refuses to be read is available', async () => {
    const storage = await answering(403, 'AccessDenied');
    await expect(storage.open('a')).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(checkAvailable(storage, 'a', AbortSignal.timeout(10_000))).resolves.toBeUndefined();
  });

  it.each<[string, (storage: ObjectStorage, signal: AbortSignal) => Promise<unknown>]>([
    ['read', (storage, signal) => storage.open('a', signal)],
    ['look for', (storage, signal) => storage.exists('a', signal)],
    ['write', (storage, signal) => storage.put('a', fileURLToPath(import.meta.url), signal)],
  ])('that does not answer is not awaited by a caller who aborts: to %s', async (_, ask) => {
    const gaveUp = new AbortController();
    const storage = await bucketOf(() => gaveUp.abort(new Error('over')));
    await expect(ask(storage, gaveUp.signal)).rejects.toThrow('over');
  });
});

it('a folder keeps nothing of an object that was not written completely', async () => {
  const objects = join(folder, 'whole');
  const storage = new FolderStorage(objects);
  await expect(storage.put('a/b', join(folder, 'missing'))).rejects.toThrow('ENOENT');
  for (const place of ['a', '.incoming']) expect(await readdir(join(objects, place))).toEqual([]);
});

it('a folder takes a file over instead of a copy, which would need as much room again', async () => {
  const storage = new FolderStorage(join(folder, 'moved'));
  const file = join(folder, 'large');
  await writeFile(file, 'bytes');
  const { ino } = await stat(file);
  await storage.put('a', file);
  expect((await stat(join(folder, 'moved', 'a'))).ino).toBe(ino);
});

it('a folder contains no objects outside of it', async () => {
  await expect(new FolderStorage(join(folder, 'objects')).open('../file')).rejects.toThrow('is no path of an object');
});
