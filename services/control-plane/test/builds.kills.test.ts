import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { LINK_PACKAGES, PROJECT } from '@runyard/test-kit/built-project';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { createEmpty, deploy } from './support/sources.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start({ SWEEP_SECONDS: '2' }, { hasOwnProcess: true, hasBuilderProcess: true });
});
afterAll(() => platform.close());

/** Kills processes; what is returned starts them again. */
const KILLS = {
  'control-plane': async () => {
    await platform.kill();
    return () => platform.startService();
  },
  builder: async () => {
    await platform.builder.kill();
    return () => platform.builder.start();
  },
  'control-plane and builder': async () => {
    await Promise.all([platform.kill(), platform.builder.kill()]);
    return () => platform.startService();
  },
};

let gates = 0;
/** A place in a build that is reached, and waits there the first time it is. */
function gate() {
  gates += 1;
  const path = join(platform.folder, `gate-${gates}`);
  return {
    /** For a command. */
    command: `echo $$ >> ${path}.at && while [ ! -e ${path}.open ]; do sleep 0.05; done`,
    /** For the code of a graph. */
    code: `
      import { appendFileSync, existsSync } from 'node:fs';
      if (!process.env.RUN_ID_OF_TEST && !existsSync('${path}.open')) appendFileSync('${path}.at', process.pid + '\\n');
      while (!existsSync('${path}.open')) await new Promise((resolve) => setTimeout(resolve, 50));`,
    reached: (times = 1) =>
      waitFor(async () => (await readFile(`${path}.at`, 'utf8').catch(() => '')).split('\n').length > times, {
        what: `step ${gates} of the build for the ${times}. time`,
      }),
    open: () => writeFile(`${path}.open`, ''),
    pids: async () => (await readFile(`${path}.at`, 'utf8')).split('\n').filter(Boolean),
  };
}

const STEPS: Record<string, (held: ReturnType<typeof gate>) => object> = {
  'while it installs': (held) => ({ install_command: `${held.command} && ${LINK_PACKAGES}` }),
  'while it builds': (held) => ({ build_command: held.command }),
  'while its graphs are loaded': (held) => ({
    files: { ...PROJECT, 'agent.mjs': `${held.code}\n${PROJECT['agent.mjs']}` },
  }),
};

describe.each(Object.entries(KILLS))('a build whose %s is killed', (_, kill) => {
  it.each(Object.entries(STEPS))('%s ends in a deployed revision', async (_step, orderOf) => {
    const { id } = await createEmpty(platform);
    const held = gate();
    const { body } = await deploy(platform, id, orderOf(held));
    await held.reached();
    const startAgain = await kill();
    await startAgain();
    await held.open();
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    await platform.call('DELETE', `/v2/deployments/${id}`);
  });
});

it('a build whose builders are killed three times is given up, with the reason', async () => {
  const { id } = await createEmpty(platform);
  const held = gate();
  const { body } = await deploy(platform, id, { install_command: held.command });
  for (let times = 1; times <= 3; times += 1) {
    await held.reached(times);
    await platform.builder.kill();
    for (const pid of await held.pids()) await waitFor(() => !existsSync(`/proc/${pid}/exe`), { what: 'its end' });
    await platform.builder.start();
  }
  const revision = await platform.untilStatus(id, body.latest_revision_id!, 'BUILD_FAILED');
  expect(revision.status_message).toMatch(/begun 3 times/);
});
