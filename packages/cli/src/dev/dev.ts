import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError, ExitCode, reasonOf } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { LOCAL_DATA_FOLDER } from '../local-data-folder.ts';
import { openProject } from '../project/project.ts';

export interface DevFlags {
  project: string;
  port: number;
  dataDir?: string;
  kafka?: boolean;
}

const LAUNCHER = 'infra/bootstrap.mjs';

/**
 * Runs the platform of a checkout with the project, like `npm start` there, until it is interrupted.
 *
 * @returns the exit code of the platform
 */
export async function dev(flags: DevFlags, context: CommandContext): Promise<number> {
  const { cwd, env } = context;
  const { folder } = await openProject(resolve(cwd, flags.project));
  const launcher = join(findCheckout(env.RUNYARD_HOME), LAUNCHER);
  const dataDir = flags.dataDir ? resolve(cwd, flags.dataDir) : await ensureDataFolder(folder);
  const args = ['start', '--project', folder, '--port', String(flags.port), '--data-dir', dataDir];
  if (flags.kafka) args.push('--kafka');
  return runUntilExit([launcher, ...args], context);
}

/** @throws CliError when there is no checkout */
function findCheckout(named: string | undefined): string {
  if (named) {
    if (existsSync(join(named, LAUNCHER))) return named;
    throw new CliError(
      `RUNYARD_HOME is ${named}, which is no checkout of Runyard: it has no ${LAUNCHER}.`,
      ExitCode.usage,
    );
  }
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, LAUNCHER)) && existsSync(join(folder, 'pnpm-workspace.yaml'))) return folder;
  }
  throw new CliError(
    'The services of the platform are not part of this package: clone the repository of Runyard, and name its folder as RUNYARD_HOME.',
    ExitCode.usage,
  );
}

/** Creates the folder inside the project, ignored by git and by archives. */
async function ensureDataFolder(project: string): Promise<string> {
  const folder = join(project, LOCAL_DATA_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, '.gitignore'), '*\n');
  return folder;
}

/** Waits until the platform has stopped by itself, so that nothing is left behind. */
async function runUntilExit(args: string[], { cwd, env, interrupted }: CommandContext): Promise<number> {
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
