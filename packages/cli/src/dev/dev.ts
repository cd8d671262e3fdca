import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CliError, ExitCode, reasonOf } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { LOCAL_DATA_FOLDER } from '../local-data-folder.ts';
import { openProject } from '../project/project.ts';

export interface DevFlags {
  project: string;
  port: number;
  dataDir?: string;
  kafka?: boolean;
  host: string;
  auth?: boolean;
  origin?: string[];
  /** `drain` or `resume`; false for `--no-reload`. */
  reload?: string | false;
  quiet?: boolean;
  verbose?: boolean;
}

/** The programs that start the platform: that of a checkout first installs and builds what has changed there. */
const STARTERS = [
  { program: 'infra/bootstrap.mjs', words: ['start'] },
  { program: 'infra/launcher/dist/main.js', words: [] },
];

/**
 * Runs the platform of this package, or of a checkout, with the project until it is interrupted.
 *
 * @returns the exit code of the platform
 */
export async function dev(flags: DevFlags, context: CommandContext): Promise<number> {
  const { cwd, env } = context;
  const { folder } = await openProject(resolve(cwd, flags.project));
  const starter = findStarter(env.RUNYARD_HOME);
  const dataDir = flags.dataDir ? resolve(cwd, flags.dataDir) : await ensureDataFolder(folder);
  const { port, host } = flags;
  const args = [...starter, '--project', folder, '--port', String(port), '--host', host, '--data-dir', dataDir];
  if (flags.kafka) args.push('--kafka');
  if (flags.auth) args.push('--auth');
  if (flags.quiet) args.push('--quiet');
  if (flags.verbose) args.push('--verbose');
  if (flags.reload === false) args.push('--no-reload');
  else if (flags.reload) args.push('--reload', flags.reload);
  for (const origin of flags.origin ?? []) args.push('--origin', origin);
  return runUntilExit(args, context);
}

/**
 * Returns the program that starts the platform, with its first arguments: that of the folder which `RUNYARD_HOME` names,
 * else of the package or checkout that this command lies in.
 *
 * @throws CliError when there is none
 */
function findStarter(home: string | undefined): string[] {
  const root = home || resolve(import.meta.dirname, import.meta.url.endsWith('.ts') ? '../../../..' : '../../..');
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
