import { GraphLoadError, type Project } from '@runyard/graph-host';

/**
 * Refuses a project whose settings ask for protection that does not exist: serving it anyway would open, or store in
 * plain text, what its author believes to be guarded.
 *
 * @throws GraphLoadError
 */
export function refuseUnmetProtection({ auth, encryption }: Pick<Project, 'auth' | 'encryption'>): void {
  const faults = [
    ...(auth === null
      ? []
      : ['"auth.path" asks for custom authentication, which is not available: its handler would not be asked.']),
    ...(encryption === null
      ? []
      : ['"encryption.path" asks for custom encryption, which is not available: data would be stored in plain text.']),
  ];
  if (faults.length > 0) throw new GraphLoadError([...faults, 'Remove it to start the deployment without.'].join(' '));
}
