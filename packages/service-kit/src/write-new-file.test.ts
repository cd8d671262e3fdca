import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeNewFile } from './write-new-file.ts';

async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runyard-new-file-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'file');
}

// biome-ignore lint/correctness/useYield: it fails before the first byte.
async function* failing(): AsyncGenerator<Uint8Array> {
  throw new Error('refused');
}

async function* content(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('bytes');
}

it('a file whose first byte is refused is there to be removed, and none comes later', async () => {
  const path = await newPath();
  const isThere = await writeNewFile(path, failing()).catch(() => existsSync(path));
  expect(isThere).toBe(true);
});

it('a file is for its owner alone, and no other one is overwritten', async () => {
  const path = await newPath();
  await writeNewFile(path, content());
  const { mode, size } = await stat(path);
  expect([mode & 0o777, size]).toEqual([0o600, 5]);
  await expect(writeNewFile(path, content())).rejects.toThrow('EEXIST');
});
