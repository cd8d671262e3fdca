import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AbandonedFiles } from './abandoned-files.ts';

it('temporary files of a killed process are removed after a day, and younger ones stay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runyard-temporary-'));
  const longAgo = new Date(Date.now() - 30 * 3_600_000);
  for (const name of ['upload-old', 'upload-new']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'archive'), 'bytes');
  }
  await writeFile(join(folder, 'layer-old'), 'bytes');
  for (const name of ['upload-old', 'layer-old']) await utimes(join(folder, name), longAgo, longAgo);
  const files = new AbandonedFiles({ folders: [join(folder, 'missing'), folder] });
  await files.sweep();
  expect(await readdir(folder)).toEqual(['upload-new']);
  await rm(folder, { recursive: true });
});
