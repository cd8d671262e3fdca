import { GraphLoadError, type Project } from '@runyard/graph-host';

/**
 * Refuses a project whose settings ask for protection that it would not get: serving it anyway would open, or store in
 * plain text, what its author believes to be guarded.
 *
 * @param aesKey the deployment's key for data at rest
 * @throws GraphLoadError
 */
export function refuseUnmetProtection(
  { auth, encryption }: Pick<Project, 'auth' | 'encryption'>,
  aesKey: string | undefined,
): void {
  const faults = [
    ...(auth === null || aesKey
      ? []
      : [
          '"auth.path" needs the variable LANGGRAPH_AES_KEY: users are stored with their runs and crons, and encrypted there.',
        ]),
    ...(encryption === null
      ? []
      : [
          '"encryption.path" asks for custom encryption, which is not available: data would be stored in plain text. Remove it to start the deployment without.',
        ]),
  ];
  if (faults.length > 0) throw new GraphLoadError(faults.join(' '));
}
