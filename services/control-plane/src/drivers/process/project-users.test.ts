import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openProjectUsers, ProjectUsers } from './project-users.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'runyard-users-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  return rm(dataDir, { recursive: true });
});

it('each deployment has a user of the range, and the same at every start', () => {
  const users = new ProjectUsers(100_000, 999_999_999);
  const ids = Array.from({ length: 1000 }, () => randomUUID());
  const first = ids.map((id) => users.of(id));
  expect(ids.map((id) => users.of(id))).toEqual(first);
  expect(new Set(first).size).toBeGreaterThan(998);
  for (const user of first) {
    const [uid, gid] = user.split(':').map(Number);
    expect(uid).toBe(gid);
    expect(uid).toBeGreaterThanOrEqual(100_000);
    expect(uid).toBeLessThanOrEqual(999_999_999);
  }
});

it('without a setting there are none, and folders stay as they are', async () => {
  expect(await openProjectUsers(undefined, dataDir)).toBeNull();
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

it('users are refused where they could not be kept to', async () => {
  vi.spyOn(process, 'geteuid').mockReturnValue(1000);
  await expect(openProjectUsers('100000-200000', dataDir)).rejects.toThrow('PROJECT_USERS can only be set');
});

it.runIf(process.geteuid?.() === 0).each(['0-100', '200-100'])('root is in no range (%s)', async (setting) => {
  await expect(openProjectUsers(setting, dataDir)).rejects.toThrow('a range of users other than root');
});

it.runIf(process.geteuid?.() === 0)('projects pass through the data folder and see nothing of it', async () => {
  await openProjectUsers('100000-200000', dataDir);
  const modes = await Promise.all(
    ['', 'artifacts', 'logs', 'holders'].map(async (name) => (await stat(join(dataDir, name))).mode & 0o777),
  );
  expect(modes).toEqual([0o711, 0o711, 0o700, 0o700]);
});
