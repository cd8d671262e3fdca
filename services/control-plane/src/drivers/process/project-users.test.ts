import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

it('each deployment has a user of the range, the same at every start', () => {
  const users = new ProjectUsers(100_000, 999_999_999, dataDir);
  const ids = Array.from({ length: 1000 }, () => randomUUID());
  const first = ids.map((id) => users.userOf(id));
  expect(ids.map((id) => users.userOf(id))).toEqual(first);
  expect(new Set(first).size).toBeGreaterThan(998);
  for (const user of first) {
    const [uid, gid] = user.split(':').map(Number);
    expect(uid).toBe(gid);
    expect(uid).toBeGreaterThanOrEqual(100_000);
    expect(uid).toBeLessThanOrEqual(999_999_999);
  }
});

it('without a setting there are no users, and folders keep their modes', async () => {
  expect(await openProjectUsers(undefined, dataDir)).toBeNull();
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

it('project users are refused where this service cannot start their processes', async () => {
  vi.spyOn(process, 'geteuid').mockReturnValue(1000);
  await expect(openProjectUsers('100000-200000', dataDir)).rejects.toThrow('PROJECT_USERS can only be set');
});

it.runIf(process.geteuid?.() === 0).each(['0-100', '200-100'])(
  'a range of users must not contain root (%s)',
  async (setting) => {
    await expect(openProjectUsers(setting, dataDir)).rejects.toThrow('a range of users other than root');
  },
);

it.runIf(process.geteuid?.() === 0)("only the deployment's own user can read its build", async () => {
  const users = (await openProjectUsers('100000-200000', dataDir))!;
  await chmod(dataDir, 0o711);
  const [mine, other] = [randomUUID(), randomUUID()];
  const folderOf = (id: string) => join(dataDir, 'artifacts', id, 'build', 'attempt');
  for (const id of [mine, other]) {
    await mkdir(folderOf(id), { recursive: true });
    await chmod(folderOf(id), 0o700);
    await writeFile(join(folderOf(id), 'agent.ts'), 'the code');
  }
  const [uid, gid] = users.userOf(mine).split(':').map(Number) as [number, number];
  const read = (id: string, user = { uid, gid }) =>
    promisify(execFile)('cat', [join(folderOf(id), 'agent.ts')], user).then(
      ({ stdout }) => stdout,
      (error: { stderr: string }) => error.stderr,
    );
  await users.grantAccess(mine, folderOf(mine));
  await users.grantAccess(mine, folderOf(other));
  expect(await read(mine)).toBe('the code');
  expect(await read(mine, { uid: uid + 1, gid: gid + 1 })).toContain('Permission denied');
  expect(await read(other)).toContain('Permission denied');
});

it.runIf(process.geteuid?.() === 0)(
  "projects can traverse the data folder and read nothing of the service's",
  async () => {
    await openProjectUsers('100000-200000', dataDir);
    const modes = await Promise.all(
      ['', 'artifacts', 'logs', 'holders'].map(async (name) => (await stat(join(dataDir, name))).mode & 0o777),
    );
    expect(modes).toEqual([0o711, 0o711, 0o700, 0o700]);
  },
);
