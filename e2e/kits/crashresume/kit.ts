import path from 'node:path';
import type { Platform } from '../../harness/platform.ts';
import type { Check, Kit } from '../kit.ts';
import { deployForKit } from '../kit-deployment.ts';
import { runChecks } from '../run-program.ts';

const PROJECT = path.join(import.meta.dirname, 'project');
const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt');

/** Each names what is killed at the effects of two runs, and what is stored before the next step. */
const CRASHES = [
  { DURABILITY: 'sync', KILLED: 'worker' },
  { DURABILITY: 'sync', KILLED: 'host' },
  { DURABILITY: 'async', KILLED: 'worker' },
  { DURABILITY: 'exit', KILLED: 'worker' },
];

/** Kills the worker of a deployment, or the process below it that has the project's code, at every side effect. */
export const crashresume: Kit = {
  name: 'crashresume',
  knownFailures: {},
  async run(platform) {
    const checks: Check[] = [];
    for (const crash of CRASHES) checks.push(...(await runCrashes(platform, crash)));
    return checks;
  },
};

/** Uses a deployment of its own, because a worker that is killed often is started again after longer and longer. */
async function runCrashes(platform: Platform, crash: Record<string, string>): Promise<Check[]> {
  const { url, remove } = await deployForKit(platform, PROJECT);
  try {
    return await runChecks({
      requirements: REQUIREMENTS,
      args: [path.join(import.meta.dirname, 'checks.py')],
      variables: { ...crash, DEPLOYMENT_URL: url, API_KEY: platform.apiKey },
    });
  } finally {
    await remove();
  }
}
