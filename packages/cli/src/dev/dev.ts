import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CommandContext } from '../command-context.ts';
import { LOCAL_DATA_FOLDER } from '../local-data-folder.ts';
import { openProject } from '../project/project.ts';
import { findStarter, runUntilExit } from './platform-programs.ts';

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

/** Creates the folder inside the project, ignored by git and by archives. */
async function ensureDataFolder(project: string): Promise<string> {
  const folder = join(project, LOCAL_DATA_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, '.gitignore'), '*\n');
  return folder;
}
