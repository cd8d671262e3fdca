import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** An error that is a sentence for the person at the keyboard, printed without a stack. */
export class StepError extends Error {}

/** Prints one line with the seconds since the command began, as the launcher does. */
export function say(line) {
  process.stdout.write(`${process.uptime().toFixed(1).padStart(5)} s  ${line}\n`);
}

/** Returns the path of a program that an installed package brings. */
export function installed(program) {
  return join(repository, 'node_modules/.bin', program);
}

/**
 * Runs a program in the repository. With `quiet` its output is kept back and comes only with the error, should it fail.
 * Resolves to its exit code when `allowFailure` is set, and throws otherwise.
 */
export async function run(name, command, args, { quiet = false, allowFailure = false, env = {} } = {}) {
  const child = spawn(command, args, {
    cwd: repository,
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  let output = '';
  if (quiet)
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
  let reminder;
  const remindIn = (ms) => {
    reminder = setTimeout(() => {
      say(`${name}, still at it`);
      remindIn(15_000);
    }, ms);
  };
  if (quiet) remindIn(2_000);
  let interrupted = false;
  const forward = (signal) => {
    interrupted = true;
    child.kill(signal);
  };
  process.on('SIGINT', forward).on('SIGTERM', forward);
  const end = await new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new StepError(`${name} could not be started: ${error.message}`)));
    child.once('close', (code, signal) => resolve(code ?? signal));
  }).finally(() => {
    clearTimeout(reminder);
    process.off('SIGINT', forward).off('SIGTERM', forward);
  });
  if (interrupted) process.exit(130);
  if (end !== 0 && !allowFailure)
    throw new StepError(`${name} failed (${end}).\n${output.trimEnd().split('\n').slice(-40).join('\n')}`);
  return end;
}
