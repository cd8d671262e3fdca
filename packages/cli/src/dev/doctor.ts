import { join, resolve } from 'node:path';
import type { CommandContext } from '../command-context.ts';
import { LOCAL_DATA_FOLDER } from '../local-data-folder.ts';
import type { DevFlags } from './dev.ts';
import { findLauncher, runUntilExit } from './platform-programs.ts';

export type DoctorFlags = Pick<DevFlags, 'project' | 'port' | 'dataDir' | 'kafka' | 'host'> & { json: boolean };

/**
 * Has the launcher of the platform, which finds all that a start needs, say what it finds.
 *
 * @returns 0 when `dev` with the same options would start
 */
export async function doctor(flags: DoctorFlags, context: CommandContext): Promise<number> {
  const { cwd, env } = context;
  const project = resolve(cwd, flags.project);
  const dataDir = flags.dataDir ? resolve(cwd, flags.dataDir) : join(project, LOCAL_DATA_FOLDER);
  const { port, host } = flags;
  const args = [findLauncher(env.RUNYARD_HOME), 'doctor', '--project', project, '--port', String(port)];
  args.push('--host', host, '--data-dir', dataDir);
  if (flags.kafka) args.push('--kafka');
  if (flags.json) args.push('--json');
  return runUntilExit(args, context);
}
