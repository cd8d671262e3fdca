import { basename } from 'node:path';
import type { CommandContext } from '../command-context.ts';
import { toDeploymentName } from '../project/deployment-name.ts';
import { findVariable, NAME_VARIABLES, type Variables } from './settings.ts';

/**
 * Returns the name of the deployment that a folder's project is deployed as: that of the flag or of a variable, else
 * the folder's. `isChosen` says that somebody gave it.
 */
export function ownDeploymentName(
  flag: string | undefined,
  project: Variables,
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
): { name: string; isChosen: boolean } {
  const wanted = flag ?? findVariable(NAME_VARIABLES, project, env);
  return { name: toDeploymentName(wanted ?? basename(cwd)), isChosen: wanted !== undefined };
}
