import { GraphLoadError, type Project } from '@runyard/graph-host';

/**
 * Refuses a project with users of its own and nothing that would encrypt them: they are stored with their runs and
 * crons.
 *
 * @param aesKey the deployment's key for data at rest
 * @throws GraphLoadError
 */
export function refuseUnmetProtection(
  { auth, encryption }: Pick<Project, 'auth' | 'encryption'>,
  aesKey: string | undefined,
): void {
  if (auth === null || encryption !== null || aesKey) return;
  throw new GraphLoadError(
    '"auth.path" needs the variable LANGGRAPH_AES_KEY, or "encryption.path": users are stored with their runs and crons, and encrypted there.',
  );
}
