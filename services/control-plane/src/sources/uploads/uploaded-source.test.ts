import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { create } from 'tar';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BuildFailure } from '../../builds/build-failure.ts';
import { type ObjectStorage, ObjectStorageUnavailableError } from '../../object-storage/object-storage.ts';
import type { RolloutRevision } from '../../reconciler/rollout-store.ts';
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

/** Fetches from a storage that answers like this, one after the other and the last one for good. */
async function fetched(answers: (() => Promise<Readable | null>)[], end = new AbortController()) {
  let asked = 0;
  const storage = {
    open: () => {
      if (asked === 3) end.abort(new Error('the time is over'));
      return (answers[asked++] ?? answers.at(-1)!)();
    },
  } as unknown as ObjectStorage;
  const sources = uploadSources(storage, { firstMs: 1, longestMs: 2 });
  const revision = {
    id: '1',
    sourceRevisionConfig: { source_tarball_path: 'a/1.tar.gz' },
  } as unknown as RolloutRevision;
  const source = await sources.internal_source!(revision);
  const target = await mkdtemp(join(folder, 'fetched-'));
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  const error = await source.fetch(target, { signal: end.signal, say }).then(
    () => null,
    (reason: unknown) => reason as Error,
  );
  return { error, asked, said, files: await readdir(target) };
}

const whole = async () => Readable.from([archive]);
const gone = async () => null;
const refuses = () => Promise.reject(away());
const breaks = async () =>
  Readable.from(
    (async function* () {
      yield archive.subarray(0, 20);
      throw away();
    })(),
  );

it.each([
  ['cannot be reached', refuses],
  ['ends in the middle', breaks],
])('an archive is fetched from a storage that %s at first', async (_, first) => {
  const { error, asked, files } = await fetched([first, whole]);
  expect({ error, asked, files }).toEqual({ error: null, asked: 2, files: ['agent.mjs'] });
});

it('a storage that stays away is what the build failed of, and where it is is not told', async () => {
  const { error, asked, said } = await fetched([refuses]);
  expect(error).toBeInstanceOf(BuildFailure);
  expect(error!.message).toBe("The object storage could not be reached (ECONNREFUSED) until the build's time was over");
  expect(said).toEqual(Array(asked).fill('The object storage could not be reached (ECONNREFUSED): trying again'));
});

it.each([
  ['is not there', gone, 'is not there any more: upload it again'],
  ['may not be read', () => Promise.reject(new Error('Access Denied')), 'Access Denied'],
  ['is none', async () => Readable.from(['no archive']), 'The archive is refused'],
])('an archive that %s fails at once', async (_, answer, message) => {
  const { error, asked } = await fetched([answer]);
  expect(error!.message).toContain(message);
  expect(asked).toBe(1);
});
