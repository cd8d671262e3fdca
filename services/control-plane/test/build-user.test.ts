import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WORKSPACE } from './support/callers.ts';
import { TestPlatform } from './support/platform.ts';
import { createEmpty, deploy, LINK_PACKAGES } from './support/sources.ts';

// Only root may start processes as another user.
describe.runIf(process.geteuid?.() === 0)('with a build user,', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await TestPlatform.start({ BUILD_USER: '20000:20000', PROJECT_USERS: '100000-999999999' });
  });
  afterAll(() => platform?.close());

  it('commands run as that user, and the service runs what they made as its own', async () => {
    const { id } = await createEmpty(platform);
    const install_command = `pnpm --version > manager && id -u > uid && echo $HOME > "$HOME/home" && cp "$HOME/home" . && ${LINK_PACKAGES}`;
    const { body } = await deploy(platform, id, { install_command, build_command: 'npm --version' });
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    const answer = await fetch(`${await platform.upstreamOf(id)}/started-with`);
    const { env } = (await answer.json()) as { env: { PROJECT_DIR: string; GRAPH_HOST_USER: string } };
    expect(env.GRAPH_HOST_USER).toMatch(/^(\d{6,9}):\1$/);
    expect(await readFile(join(env.PROJECT_DIR, 'uid'), 'utf8')).toBe('20000\n');
    expect(await readFile(join(env.PROJECT_DIR, 'home'), 'utf8')).toBe(`${join(platform.folder, 'builds', id)}\n`);
    expect((await stat(join(env.PROJECT_DIR, 'uid'))).uid).toBe(0);
    // Only the deployment's user may enter its build.
    const { uid, gid, mode } = await stat(env.PROJECT_DIR);
    expect({ uid, user: `${gid}:${gid}`, mode: mode & 0o777 }).toEqual({
      uid: 0,
      user: env.GRAPH_HOST_USER,
      mode: 0o750,
    });
    // The build cannot change programs that the workspace's next build executes.
    expect(await readFile(join(env.PROJECT_DIR, 'manager'), 'utf8')).toMatch(/^\d+\.\d+/);
    const [release] = await readdir(join(platform.folder, 'package-managers', WORKSPACE, 'tools'));
    expect((await stat(join(platform.folder, 'package-managers', WORKSPACE, 'tools', release!))).uid).toBe(0);
  });

  it('graphs are loaded as that user, which can read no environment of the service', async () => {
    const { id } = await createEmpty(platform);
    const code = `
      import { readFileSync } from 'node:fs';
      const seen = () => { try { return readFileSync('/proc/' + process.ppid + '/environ').length; } catch (error) { return error.code; } };
      console.log('loaded by', process.getuid(), 'in', process.env.HOME, 'reads', seen());`;
    const build_command = `echo ${Buffer.from(code).toString('base64')} | base64 -d >> agent.mjs`;
    const { body } = await deploy(platform, id, { install_command: LINK_PACKAGES, build_command });
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    const home = join(platform.folder, 'builds', id);
    expect(await buildLogOf(id, body.latest_revision_id!)).toContain(`loaded by 20000 in ${home} reads EACCES`);
  });

  /** Returns the content of the build's log files. */
  async function buildLogOf(id: string, revisionId: string): Promise<string> {
    const folder = join(platform.folder, 'logs', id, revisionId);
    const names = (await readdir(folder)).filter((name) => name.startsWith('build'));
    return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
  }

  it("commands cannot read the service's files of others", async () => {
    const { id } = await createEmpty(platform);
    const install_command = `ls ${join(platform.folder, 'logs')} ${join(platform.folder, 'objects')}`;
    const { body } = await deploy(platform, id, { install_command });
    const failed = await platform.untilStatus(id, body.latest_revision_id!, 'BUILD_FAILED');
    expect(failed.status_message).toContain('Permission denied');
  });
});
