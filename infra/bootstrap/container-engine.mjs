import { execFile } from 'node:child_process';
import { StepError } from './steps.mjs';

const ANSWER_MS = 10_000;

/** Throws one sentence where `docker` does not reach an engine, at `DOCKER_HOST` or at its default. */
export async function requireContainerEngine() {
  const failure = await new Promise((resolve) => {
    const args = ['version', '--format', '{{.Server.Version}}'];
    execFile('docker', args, { timeout: ANSWER_MS }, (error, _, stderr) => resolve(error && reasonOf(error, stderr)));
  });
  if (failure) throw new StepError(`A container engine is needed, as \`docker\` reaches it: ${failure}`);
}

function reasonOf(error, stderr) {
  if (error.code === 'ENOENT') return 'there is none on the PATH.';
  if (error.killed) return `it did not answer within ${ANSWER_MS / 1000} s.`;
  return stderr.trim().split('\n').at(-1) || error.message;
}
