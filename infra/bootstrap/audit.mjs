import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository, StepError } from './steps.mjs';

/**
 * Asks the registry for known vulnerabilities of the packages in the lock file that production needs, and prints them.
 * Only severities high and critical fail.
 *
 * @throws StepError when there are some, and when the registry does not answer: then nothing is known
 */
export function audit() {
  const { packageManager } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  const args = ['--yes', packageManager, 'audit', '--prod', '--audit-level', 'high'];
  // `npm run --silent` would make pnpm silent too.
  const env = { ...process.env, npm_config_loglevel: 'notice' };
  const { status, stdout, stderr } = spawnSync('npx', args, { cwd: repository, encoding: 'utf8', env });
  process.stdout.write(stdout);
  const verdict = verdictOf(status, `${stdout}${stderr}`);
  if (verdict !== undefined) throw new StepError(verdict);
}

/** Returns the failure of an ended `pnpm audit` as a sentence; undefined when nothing above the level is known. */
export function verdictOf(status, output) {
  if (status === 0) return undefined;
  const failure = /ERR_PNPM_\w+.*/.exec(output)?.[0];
  if (failure === undefined && /vulnerabilities found/.test(output)) {
    return 'There are known vulnerabilities of severity high or critical.';
  }
  return `The registry was not heard, so nothing is known about vulnerabilities: ${failure ?? output.trim()}`;
}
