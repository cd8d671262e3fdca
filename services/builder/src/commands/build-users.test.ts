import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserRange } from '@runyard/deployments';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runBuildCommand } from './build-command.ts';
import { type BuildUser, openBuildUsers } from './build-users.ts';

const isRoot = process.geteuid?.() === 0;
const PROJECT_USERS = '100000-999999999';
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'runyard-user-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  return rm(dataDir, { recursive: true });
});

const modeOf = async (name: string) => (await stat(join(dataDir, name))).mode & 0o777;

it('only this service can read its temporary files, whoever runs builds', async () => {
  await mkdir(join(dataDir, 'git'), { mode: 0o755 });
  expect(await openBuildUsers(undefined, dataDir)).toBeNull();
  expect(await modeOf('git')).toBe(0o700);
});

describe.runIf(isRoot)('a build command with a user of its own', () => {
  let deploymentId: string;
  let user: BuildUser;
  let cwd: string;
  beforeEach(async () => {
    deploymentId = randomUUID();
    ({ user, cwd } = await newBuild(deploymentId));
  });

  /** Makes the folder of a build and its user, as the builder does. */
  async function newBuild(id: string) {
    const { userOf } = (await openBuildUsers(PROJECT_USERS, dataDir))!;
    const folder = join(dataDir, 'projects', id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await symlink(join(dataDir, 'git'), join(folder, 'link'));
    await userOf(id).give(folder);
    return { user: userOf(id), cwd: folder };
  }

  async function run(
    command: string,
    as = { user, cwd },
    options: { env?: Record<string, string>; signal?: AbortSignal; onLine?: (line: string) => void } = {},
  ) {
    const lines: string[] = [];
    const onLine = (line: string) => {
      lines.push(line);
      options.onLine?.(line);
    };
    const env = { PATH: process.env.PATH ?? '', ...options.env };
    const { signal = new AbortController().signal } = options;
    const error = await runBuildCommand({
      command,
      ...as,
      env,
      signal,
      onLine,
      limits: { fileBytes: 1_000_000_000, processes: 4_096 },
    }).catch((reason: Error) => reason);
    return { error, lines };
  }

  it('runs as that user without other groups, and can write in its own folder', async () => {
    const { error, lines } = await run('id -u; id -G; umask 077; echo made > made');
    expect({ error, lines }).toEqual({ error: undefined, lines: [`${user.uid}`, `${user.gid}`] });
    expect((await stat(join(cwd, 'made'))).uid).toBe(user.uid);
    await user.takeBack(cwd);
    // The build made the file readable only for itself; the user who runs the project may be another one.
    expect(await stat(join(cwd, 'made'))).toMatchObject({ uid: 0, mode: 0o100644 });
    expect(await readFile(join(cwd, 'made'), 'utf8')).toBe('made\n');
    // The link itself changed its owner, not its target.
    expect((await lstat(join(dataDir, 'git'))).uid).toBe(0);
  });

  it.each([
    ['files of this service', () => `cat ${join(dataDir, 'git', 'secret')}`],
    ['the folder that contains them', () => `ls ${dataDir}`],
    ['the environment of this service', () => `cat /proc/${process.pid}/environ`],
  ])('cannot read %s', async (_, command) => {
    await writeFile(join(dataDir, 'git', 'secret'), 'a secret');
    const { error, lines } = await run(command());
    expect(error).toBeInstanceOf(Error);
    expect(lines.join('\n')).toMatch(/Permission denied/);
    expect(lines.join('\n')).not.toContain('a secret');
  });

  it('reads and changes nothing of a build of another deployment that runs beside it, and cannot end it', async () => {
    const other = await newBuild(randomUUID());
    const ending = new AbortController();
    const env = { NPM_TOKEN: 'secret-of-other' };
    let running: ReturnType<typeof run> | undefined;
    const pid = await new Promise<string>((onLine) => {
      running = run('echo $$; exec sleep 600', other, { env, signal: ending.signal, onLine });
    });
    for (const attempt of [
      `cat /proc/${pid}/environ`,
      `readlink /proc/${pid}/cwd`,
      `ls ${other.cwd}`,
      `echo changed > ${other.cwd}/index.js`,
      `kill -KILL ${pid}`,
    ]) {
      const { error, lines } = await run(attempt);
      expect([attempt, error]).toEqual([attempt, expect.any(Error)]);
      expect(lines.join('\n')).not.toContain(env.NPM_TOKEN);
    }
    expect(existsSync(`/proc/${pid}/exe`)).toBe(true);
    ending.abort(new Error('interrupted'));
    expect((await running)?.error).toMatchObject({ message: 'interrupted' });
  });

  // Starts a process that leaves the process group and its parents, and prints its id before this goes on.
  const LEAVE = `mkfifo left; (setsid sh -c 'echo $$; echo > left; exec sleep 600' &); read _ < left`;

  it.each([
    ['succeeds', 'true'],
    ['fails', 'exit 3'],
  ])('that %s ends with all processes it has started, also those that left its group', async (_, end) => {
    const { lines } = await run(`sleep 600 & echo $!; ${LEAVE}; ${end}`);
    expect(lines.filter((line) => /^\d+$/.test(line))).toHaveLength(2);
    for (const pid of lines) expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
  });

  it('that is interrupted ends with the processes that left its group', async () => {
    const ending = new AbortController();
    const { error, lines } = await run(`${LEAVE}; sleep 600`, undefined, {
      signal: ending.signal,
      onLine: () => ending.abort(new Error('interrupted')),
    });
    expect(error).toMatchObject({ message: 'interrupted' });
    expect(existsSync(`/proc/${lines[0]}/exe`)).toBe(false);
  });

  it('ends nothing of its deployment, which runs as another user', async () => {
    const project: ChildProcess = spawn('sleep', ['600'], new UserRange(PROJECT_USERS).projectUserOf(deploymentId));
    try {
      await run('true');
      expect(existsSync(`/proc/${project.pid}/exe`)).toBe(true);
    } finally {
      project.kill('SIGKILL');
    }
  });
});
