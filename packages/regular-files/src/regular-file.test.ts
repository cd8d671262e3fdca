import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRegularFile } from './regular-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regular-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('a file is read as far as is wanted, through links too', async () => {
  await writeFile(join(folder, 'file'), 'söme text');
  await symlink('file', join(folder, 'link'));
  await writeFile(join(folder, 'empty'), '');
  expect(await readRegularFile(join(folder, 'link'))).toBe('söme text');
  expect(await readRegularFile(join(folder, 'empty'))).toBe('');
  await expect(readRegularFile(join(folder, 'file'), 5)).rejects.toThrow('has more than 5 bytes');
  await expect(readRegularFile(join(folder, 'absent'))).rejects.toMatchObject({ code: 'ENOENT' });
});

it('a pipe, a device and a folder are refused at once, and nothing waits for them or fills the memory', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  await symlink('/dev/zero', join(folder, 'device'));
  for (const name of ['pipe', 'device', '.'])
    await expect(readRegularFile(join(folder, name)), name).rejects.toThrow('is no regular file');
});
