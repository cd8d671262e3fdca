import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { claimFolder } from './folder-claim.ts';

const parent = await mkdtemp(join(tmpdir(), 'runyard-claims-'));
afterAll(() => rm(parent, { recursive: true }));

it('a folder is refused while another data plane has it, and free when that has ended', async () => {
  const folder = join(parent, 'held');
  const giveUp = await claimFolder(folder);
  await expect(claimFolder(folder)).rejects.toThrow(
    `DATA_DIR ${folder} is the folder of another data plane, process ${process.pid}. Each needs one of its own.`,
  );
  await giveUp();
  await (await claimFolder(folder))();
});

it.each([
  ['a process that was killed', JSON.stringify({ pid: process.pid, startedAt: '1', host: hostname() })],
  ['a process of another machine', JSON.stringify({ pid: process.pid, startedAt: '1', host: 'elsewhere' })],
  ['a process that was killed while it wrote', '{"pid":'],
])('the claim of %s holds nobody up', async (_, content) => {
  const folder = await mkdtemp(join(parent, 'left-'));
  await writeFile(join(folder, 'data-plane.holder'), content);
  await (await claimFolder(folder))();
});
