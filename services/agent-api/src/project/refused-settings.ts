import { GraphLoadError, type Project } from '@runyard/graph-host';

/**
 * Refuses a project whose settings ask for protection that does not exist: serving it anyway would open, or store in
 * plain text, what its author believes to be guarded.
 *
 * @param variables those of the deployment and of this process
 * @throws GraphLoadError
 */
export function refuseUnmetProtection(
  { auth, encryption }: Pick<Project, 'auth' | 'encryption'>,
  variables: Record<string, string | undefined>,
): void {
  const faults = [
    ...(auth === null
      ? []
      : ['"auth.path" asks for custom authentication, which is not available: its handler would not be asked.']),
    ...(encryption === null
      ? []
      : ['"encryption.path" asks for custom encryption, which is not available: data would be stored in plain text.']),
    ...(variables.LANGGRAPH_AES_JSON_KEYS
      ? [
          'The variable LANGGRAPH_AES_JSON_KEYS asks for encryption of single keys, which is not available: metadata and items of the store are kept as they are.',
        ]
      : []),
  ];
  if (faults.length > 0) throw new GraphLoadError([...faults, 'Remove it to start the deployment without.'].join(' '));
}
