import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError, ExitCode, reasonOf } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';

const LAUNCHER = 'infra/launcher/dist/main.js';
/** The programs that start the platform: that of a checkout first installs and builds what has changed there. */
const STARTERS = [
  { program: 'infra/bootstrap.mjs', words: ['start'] },
  { program: LAUNCHER, words: [] },
];

/**
 * Returns the program that starts the platform, with its first arguments: that of the folder which `RUNYARD_HOME` names,
 * else of the package or checkout that this command lies in.
 *
 * @throws CliError when there is none
 */
export function findStarter(home: string | undefined): string[] {
  const root = platformRoot(home);
  for (const { program, words } of STARTERS) {
    if (existsSync(join(root, program))) return [join(root, program), ...words];
  }
  throw new CliError(
    home
      ? `RUNYARD_HOME is ${home}, where no Runyard is: it has no ${STARTERS[0]!.program}.`
      : 'The platform is not where this command is: install the package again, or name a checkout of Runyard as RUNYARD_HOME.',
    ExitCode.usage,
  );
}

/**
 * Returns the launcher of the same platform, as it was last built. It installs and builds nothing.
 *
 * @throws CliError when there is none
 */
export function findLauncher(home: string | undefined): string {
  const [starter = ''] = findStarter(home);
  const launcher = join(platformRoot(home), LAUNCHER);
  if (existsSync(launcher)) return launcher;
  throw new CliError(`The checkout of ${starter} was never built: \`runyard dev\` does it.`, ExitCode.failed);
}

function platformRoot(home: string | undefined): string {
  return home || resolve(import.meta.dirname, import.meta.url.endsWith('.ts') ? '../../../..' : '../../..');
}

/** Runs such a program, and waits until it has stopped by itself, so that nothing is left behind. */
export async function runUntilExit(args: string[], { cwd, env, interrupted }: CommandContext): Promise<number> {
  const child = spawn(process.execPath, args, { cwd, env: { ...env, INIT_CWD: cwd }, stdio: 'inherit' });
  // Ctrl-C in a terminal reaches the platform too, which counts only the first signal.
  const stop = () => child.kill(interrupted.reason.exitCode === ExitCode.interrupted ? 'SIGINT' : 'SIGTERM');
  if (interrupted.aborted) stop();
  interrupted.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<number>((ended, failed) => {
      child.once('error', (error) => failed(new CliError(`The platform could not be started: ${reasonOf(error)}.`)));
      child.once('close', (code) => ended(code ?? ExitCode.failed));
    });
  } finally {
    interrupted.removeEventListener('abort', stop);
  }
}
