import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { installed, repository, run, StepError, say } from './steps.mjs';

const oldestNode = [20, 19];

/** Installs and builds whatever changed since last time. */
export async function prepare() {
  requireNode();
  await install();
  await build();
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  throw new StepError(
    `Node ${oldestNode.join('.')} or newer is needed, this is ${process.versions.node}: install a newer one.`,
  );
}

/** Installs through npx, because pnpm need not be on the machine; the lockfile decides every version. */
async function install() {
  const marker = join(repository, 'node_modules/.installed');
  const wanted = fingerprint(['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  const { packageManager } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  say('Installing packages, only when they changed');
  await run('Installing packages', 'npx', ['--yes', packageManager, 'install', '--frozen-lockfile'], { quiet: true });
  writeFileSync(marker, wanted);
}

function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(repository, file)));
  return hash.digest('hex');
}

/** Builds. Turbo runs only what changed; it must send no telemetry and look for no updates. */
async function build() {
  const begun = Date.now();
  await run('Building', installed('turbo'), ['run', 'generate', 'build', '--output-logs=errors-only'], {
    quiet: true,
    env: {
      // Turbo looks for pnpm on the PATH.
      PATH: `${dirname(installed('pnpm'))}${delimiter}${process.env.PATH}`,
      TURBO_TELEMETRY_DISABLED: '1',
      DO_NOT_TRACK: '1',
      TURBO_NO_UPDATE_NOTIFIER: '1',
    },
  });
  if (Date.now() - begun > 2_000) say('Built');
}
