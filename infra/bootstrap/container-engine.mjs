import { execFile } from 'node:child_process';
import { StepError } from './steps.mjs';

const ANSWER_MS = 10_000;

/** Throws one sentence where `docker` does not reach an engine, at `DOCKER_HOST` or at its default. */
export async function requireContainerEngine() {
  const failure = await failureOf('version', '--format', '{{.Server.Version}}');
  if (failure) throw new StepError(`A container engine is needed, as \`docker\` reaches it: ${failure}`);
}

/** Throws one sentence where `docker` has not the command `compose`. */
export async function requireCompose() {
  const failure = await failureOf('compose', 'version');
  if (failure) throw new StepError(`Docker Compose is needed, as \`docker compose\`: ${failure}`);
}

/** Returns whether `docker` has the command of BuildKit, `buildx`. */
export async function hasBuildx() {
  return !(await failureOf('buildx', 'version'));
}

/**
 * Returns what `docker` answers.
 *
 * @throws StepError with its reason when it fails
 */
export async function askDocker(...args) {
  const { failure, stdout } = await callDocker(...args);
  if (failure) throw new StepError(`docker ${args.join(' ')} failed: ${failure}`);
  return stdout;
}

async function failureOf(...args) {
  return (await callDocker(...args)).failure;
}

function callDocker(...args) {
  return new Promise((resolve) => {
    execFile('docker', args, { timeout: ANSWER_MS }, (error, stdout, stderr) =>
      resolve({ stdout, failure: error && reasonOf(error, stderr) }),
    );
  });
}

function reasonOf(error, stderr) {
  if (error.code === 'ENOENT') return 'there is none on the PATH.';
  if (error.killed) return `it did not answer within ${ANSWER_MS / 1000} s.`;
  return stderr.trim().split('\n').at(-1) || error.message;
}
