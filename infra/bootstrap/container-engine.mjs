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

function failureOf(...args) {
  return new Promise((resolve) => {
    execFile('docker', args, { timeout: ANSWER_MS }, (error, _, stderr) => resolve(error && reasonOf(error, stderr)));
  });
}

function reasonOf(error, stderr) {
  if (error.code === 'ENOENT') return 'there is none on the PATH.';
  if (error.killed) return `it did not answer within ${ANSWER_MS / 1000} s.`;
  return stderr.trim().split('\n').at(-1) || error.message;
}
