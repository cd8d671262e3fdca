import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WORKSPACE } from './support/callers.ts';
import { TestPlatform } from './support/platform.ts';
import { createEmpty, deploy, LINK_PACKAGES } from './support/sources.ts';

// Only root may start processes as somebody else.
describe.runIf(process.geteuid?.() === 0)('with a user for builds', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await TestPlatform.start({ BUILD_USER: '20000:20000' });
  });
  afterAll(() => platform?.close());

  it('commands are that user, and what they made is run by the service as its own', async () => {
    const { id } = await createEmpty(platform);
    const install_command = `pnpm --version > manager && id -u > uid && echo $HOME > "$HOME/home" && cp "$HOME/home" . && ${LINK_PACKAGES}`;
    const { body } = await deploy(platform, id, { install_command, build_command: 'npm --version' });
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    const answer = await fetch(`${await platform.upstreamOf(id)}/started-with`);
    const { env } = (await answer.json()) as { env: { PROJECT_DIR: string } };
    expect(await readFile(join(env.PROJECT_DIR, 'uid'), 'utf8')).toBe('20000\n');
    expect(await readFile(join(env.PROJECT_DIR, 'home'), 'utf8')).toBe(`${join(platform.folder, 'builds', id)}\n`);
    expect((await stat(join(env.PROJECT_DIR, 'uid'))).uid).toBe(0);
    // What the next build of the workspace runs is nothing that this one could change.
    expect(await readFile(join(env.PROJECT_DIR, 'manager'), 'utf8')).toMatch(/^\d+\.\d+/);
    const [release] = await readdir(join(platform.folder, 'package-managers', WORKSPACE, 'tools'));
    expect((await stat(join(platform.folder, 'package-managers', WORKSPACE, 'tools', release!))).uid).toBe(0);
  });

  it('commands cannot read what this service keeps of others', async () => {
    const { id } = await createEmpty(platform);
    const install_command = `ls ${join(platform.folder, 'logs')} ${join(platform.folder, 'objects')}`;
    const { body } = await deploy(platform, id, { install_command });
    const failed = await platform.untilStatus(id, body.latest_revision_id!, 'BUILD_FAILED');
    expect(failed.status_message).toContain('Permission denied');
  });
});
