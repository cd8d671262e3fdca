import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UserRange } from '@runyard/deployments';
import { LINK_PACKAGES } from '@runyard/test-kit/built-project';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { createEmpty, deploy } from './support/sources.ts';

// Only root may start processes as another user.
describe.runIf(process.geteuid?.() === 0)('with users for builds,', () => {
  let platform: TestPlatform;
  const PROJECT_USERS = '100000-999999999';
  const userOf = (id: string) => new UserRange(PROJECT_USERS).buildUserOf(id).uid;
  let id: string;
  let revisionId: string;
  let home: string;
  beforeAll(async () => {
    platform = await TestPlatform.start({ PROJECT_USERS }, { hasOwnProcess: true });
    ({ id } = await createEmpty(platform));
    const install_command = `pnpm --version > manager && id -u > uid && echo $HOME > "$HOME/home" && cp "$HOME/home" . && ${LINK_PACKAGES}`;
    const code = `
      import { spawn } from 'node:child_process';
      import { readFileSync } from 'node:fs';
      const seen = () => { try { return readFileSync('/proc/' + process.ppid + '/environ').length; } catch (error) { return error.code; } };
      console.log('loaded by', process.getuid(), 'in', process.env.HOME, 'reads', seen());
      if (process.getuid() === ${userOf(id)}) spawn('sleep', ['611'], { detached: true, stdio: 'ignore' }).unref();`;
    const appendCode = `echo ${Buffer.from(code).toString('base64')} | base64 -d >> agent.mjs`;
    const build_command = `npm --version && ${appendCode} && (setsid sleep 612 > /dev/null 2>&1 &)`;
    const { body } = await deploy(platform, id, { install_command, build_command });
    revisionId = body.latest_revision_id!;
    await platform.untilStatus(id, revisionId, 'DEPLOYED');
  });
  afterAll(() => platform?.close());

  it('commands run as the user of their deployment, and the service runs what they made as its own', async () => {
    const answer = await fetch(`${await platform.upstreamOf(id)}/started-with`);
    const { env } = (await answer.json()) as { env: { PROJECT_DIR: string; GRAPH_HOST_USER: string } };
    expect(env.GRAPH_HOST_USER).toMatch(/^(\d{6,9}):\1$/);
    expect(await readFile(join(env.PROJECT_DIR, 'uid'), 'utf8')).toBe(`${userOf(id)}\n`);
    home = (await readFile(join(env.PROJECT_DIR, 'home'), 'utf8')).trim();
    expect(dirname(home)).toBe(join(platform.builder.folder, 'builds'));
    expect((await stat(join(env.PROJECT_DIR, 'uid'))).uid).toBe(0);
    // Only the deployment's user may enter its build.
    const { uid, gid, mode } = await stat(env.PROJECT_DIR);
    expect({ uid, user: `${gid}:${gid}`, mode: mode & 0o777 }).toEqual({
      uid: 0,
      user: env.GRAPH_HOST_USER,
      mode: 0o750,
    });
    // The build cannot change programs that the next build executes, and no other can read its cache.
    expect(await readFile(join(env.PROJECT_DIR, 'manager'), 'utf8')).toMatch(/^\d+\.\d+/);
    const tools = join(platform.builder.folder, 'build-tools', id, 'tools');
    const [release] = await readdir(tools);
    expect((await stat(join(tools, release!))).uid).toBe(0);
    const cache = await stat(join(platform.builder.folder, 'build-caches', id));
    expect({ uid: cache.uid, mode: cache.mode & 0o777 }).toEqual({ uid: userOf(id), mode: 0o700 });
  });

  it('graphs are loaded as the user of builds, which can read no environment of the service', async () => {
    expect(await buildLogOf(id, revisionId)).toContain(`loaded by ${userOf(id)} in ${home} reads EACCES`);
  });

  it('processes that leave a build or the loading of its graphs end with it, and the deployment goes on', async () => {
    expect(await processesOf(userOf(id))).toEqual([]);
    expect((await fetch(`${await platform.upstreamOf(id)}/ok`)).status).toBe(200);
  });

  /** Returns the commands that run as this user. */
  async function processesOf(uid: number): Promise<string[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const commands = await Promise.all(
      pids.map(async (pid) => {
        const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
        return status.includes(`Uid:\t${uid}\t`) ? readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : '';
      }),
    );
    return commands.filter((command) => command !== '');
  }

  /** Returns the content of the build's log files. */
  async function buildLogOf(id: string, revisionId: string): Promise<string> {
    const folder = join(platform.folder, 'logs', id, revisionId);
    const names = (await readdir(folder)).filter((name) => name.startsWith('build'));
    return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
  }

  it("commands cannot read the service's files of others", async () => {
    const { id } = await createEmpty(platform);
    const install_command = `ls ${join(platform.folder, 'logs')} ${join(platform.builder.folder, 'git')}`;
    const { body } = await deploy(platform, id, { install_command });
    const failed = await platform.untilStatus(id, body.latest_revision_id!, 'BUILD_FAILED');
    expect(failed.status_message).toContain('Permission denied');
  });
});
