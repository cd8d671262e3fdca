import { GraphLoadError } from '@runyard/host-protocol';
import type { Project } from '@runyard/project';

/**
 * Refuses a project with users of its own and nothing that would encrypt them: they are stored with their runs and
 * crons. In a deployment of the platform there is always a key.
 *
 * @throws GraphLoadError
 */
export function refuseUnmetProtection(
  { auth, encryption }: Pick<Project, 'auth' | 'encryption'>,
  { aesKey, platformKeys }: { aesKey?: string | undefined; platformKeys?: string | undefined },
): void {
  if (auth === null || encryption !== null || aesKey || platformKeys) return;
  throw new GraphLoadError(
    '"auth.path" needs the variable LANGGRAPH_AES_KEY, or "encryption.path", where agent-api runs without the platform: users are stored with their runs and crons, and encrypted there.',
  );
}
