import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { RolloutRevision } from '@runyard/deployments';
import { ObjectStorageUnavailableError } from '@runyard/object-storage';
import { create } from 'tar';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BuildSource } from '../../builds/build-source.ts';
import { uploadSources } from './uploaded-source.ts';

let folder: string;
let archive: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-uploaded-'));
  await writeFile(join(folder, 'agent.mjs'), '');
  const chunks: Buffer[] = [];
  for await (const chunk of create({ gzip: true, cwd: folder, portable: true }, ['agent.mjs'])) chunks.push(chunk);
  archive = Buffer.concat(chunks);
});
afterAll(() => rm(folder, { recursive: true }));

const away = () =>
  new ObjectStorageUnavailableError(Object.assign(new Error('10.1.2.3:9000'), { code: 'ECONNREFUSED' }));

/** Returns a build source in a storage with these answers. */
async function sourceIn(open: () => Promise<Readable | null>): Promise<BuildSource> {
  const revision = { id: '1', sourceRevisionConfig: { source_tarball_path: 'a/1.tar.gz' } };
  const exists = async () => (await open()) !== null;
  return uploadSources({ open, exists }).internal_source!(revision as unknown as RolloutRevision);
}

const { signal } = new AbortController();
async function fetched(open: () => Promise<Readable | null>) {
  const target = await mkdtemp(join(folder, 'fetched-'));
  await (await sourceIn(open)).fetch(target, { signal, say: () => undefined });
  return readdir(target);
}

const whole = async () => Readable.from([archive]);
const gone = async () => null;
const refuses = () => Promise.reject(away());
const denies = () => Promise.reject(new Error('Access Denied'));
const breaks = async () =>
  Readable.from(
    (async function* () {
      yield archive.subarray(0, 20);
      throw away();
    })(),
  );

it('an archive is unpacked from the object storage', async () => {
  expect(await fetched(whole)).toEqual(['agent.mjs']);
});

it.each([
  ['cannot be reached', refuses],
  ['ends in the middle', breaks],
])('a storage that %s is not the fault of the archive', async (_, open) => {
  await expect(fetched(open)).rejects.toThrow(ObjectStorageUnavailableError);
});

it.each([
  ['does not exist', gone, 'is not there any more: upload it again'],
  ['cannot be read', denies, 'Access Denied'],
  ['is invalid', async () => Readable.from(['no archive']), 'The archive is refused'],
])('an archive that %s fails the build with that reason', async (_, open, message) => {
  await expect(fetched(open)).rejects.toThrow(message);
});

it('the check before a build reports an unavailable storage, and nothing else', async () => {
  const check = async (open: () => Promise<Readable | null>) => (await sourceIn(open)).check!(signal);
  await expect(check(refuses)).rejects.toThrow('The object storage could not be reached (ECONNREFUSED)');
  for (const open of [whole, gone, denies]) await check(open);
});
