import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runBuildCommand } from './build-command.ts';
import { openBuildUser } from './build-user.ts';

const isRoot = process.geteuid?.() === 0;
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'runyard-user-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  return rm(dataDir, { recursive: true });
});

const modeOf = async (name: string) => (await stat(join(dataDir, name))).mode & 0o777;

it('only this service can read its own files, whoever runs builds', async () => {
  await mkdir(join(dataDir, 'logs'), { mode: 0o755 });
  await chmod(join(dataDir, 'logs'), 0o755);
  expect(await openBuildUser(undefined, dataDir)).toBeNull();
  for (const name of ['logs', 'holders', 'objects', 'git']) expect([name, await modeOf(name)]).toEqual([name, 0o700]);
});

it.runIf(isRoot).each(['0:100', '100:0'])('a build user must not be root (%s)', async (setting) => {
  await expect(openBuildUser(setting, dataDir)).rejects.toThrow('other than root');
});

it('a build user is refused where this service cannot start its processes', async () => {
  vi.spyOn(process, 'geteuid').mockReturnValue(1000);
  await expect(openBuildUser('20000:20000', dataDir)).rejects.toThrow('BUILD_USER can only be set');
});

describe.runIf(isRoot)('a build command with a user of its own', () => {
  async function run(command: string) {
    const user = (await openBuildUser('20000:20001', dataDir))!;
    const cwd = join(dataDir, 'artifacts', 'project');
    await mkdir(cwd, { recursive: true, mode: 0o700 });
    await symlink(join(dataDir, 'objects'), join(cwd, 'link')).catch(() => undefined);
    await user.give(cwd);
    const lines: string[] = [];
    const signal = new AbortController().signal;
    const env = { PATH: process.env.PATH ?? '' };
    const onLine = (line: string) => void lines.push(line);
    const error = await runBuildCommand({ command, cwd, env, user, signal, onLine }).catch((reason: Error) => reason);
    return { error, lines, user, cwd };
  }

  it('runs as that user without other groups, and can write in its own folder', async () => {
    const { error, lines, user, cwd } = await run('id -u; id -G; umask 077; echo made > made');
    expect({ error, lines }).toEqual({ error: undefined, lines: ['20000', '20001'] });
    expect((await stat(join(cwd, 'made'))).uid).toBe(20_000);
    await user.takeBack(cwd);
    // The build made the file readable only for itself; the user who runs the project may be another one.
    expect(await stat(join(cwd, 'made'))).toMatchObject({ uid: 0, mode: 0o100644 });
    expect(await readFile(join(cwd, 'made'), 'utf8')).toBe('made\n');
    // The link itself changed its owner, not its target.
    expect((await lstat(join(dataDir, 'objects'))).uid).toBe(0);
  });

  it.each([
    ['files of this service', () => `cat ${join(dataDir, 'logs', 'secret')}`],
    ['the folder that contains them', () => `ls ${dataDir}`],
    ['the environment of this service', () => `cat /proc/${process.pid}/environ`],
  ])('cannot read %s', async (_, command) => {
    await mkdir(join(dataDir, 'logs'));
    await writeFile(join(dataDir, 'logs', 'secret'), 'a secret');
    const { error, lines } = await run(command());
    expect(error).toBeInstanceOf(Error);
    expect(lines.join('\n')).toMatch(/Permission denied/);
    expect(lines.join('\n')).not.toContain('a secret');
  });

  it('ends with all processes it has started', async () => {
    const { lines } = await run('sleep 60 & echo $!');
    await expect.poll(() => existsSync(`/proc/${lines[0]}/exe`)).toBe(false);
  });
});
