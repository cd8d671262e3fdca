import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openProjectUsers } from './project-users.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'runyard-users-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

it('without a setting there are no users, and folders keep their modes', async () => {
  expect(await openProjectUsers(undefined, dataDir)).toBeNull();
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

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
      ['', 'artifacts', 'logs', 'logins'].map(async (name) => (await stat(join(dataDir, name))).mode & 0o777),
    );
    expect(modes).toEqual([0o711, 0o711, 0o700, 0o700]);
  },
);

it.runIf(process.geteuid?.() === 0)(
  'nothing of a deleted deployment stays in folders that everybody writes to',
  async () => {
    const users = (await openProjectUsers('100000-999999999', dataDir))!;
    const id = randomUUID();
    const [uid, gid] = users.userOf(id).split(':').map(Number) as [number, number];
    const folders = ['/tmp', '/var/tmp', '/dev/shm'].filter((folder) => existsSync(folder));
    const places = folders.map((folder) => join(folder, `left-by-${id}`));
    const write = places.map((place) => `mkdir ${place} && echo left > ${place}/file`).join(' && ');
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', `${write}; setsid sleep 617 > /dev/null 2>&1 & echo $!`],
      {
        ...{ uid, gid, cwd: '/' },
      },
    );
    await users.clear(id);
    expect(places.filter((place) => existsSync(place))).toEqual([]);
    expect(existsSync(`/proc/${stdout.trim()}/exe`)).toBe(false);
  },
);
