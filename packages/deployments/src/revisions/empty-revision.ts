import type { DeploymentSource, SourceRevisionConfig } from '@runyard/contracts';

/** The field without which a revision of a source has nothing to run; null for a folder, which the deployment names. */
const NEEDED: Readonly<Record<DeploymentSource, keyof SourceRevisionConfig | null>> = {
  // Without a ref it runs the default branch.
  github: 'langgraph_config_path',
  external_docker: 'image_uri',
  internal_docker: 'image_uri',
  internal_source: 'source_tarball_path',
  local_directory: null,
};

/**
 * Returns whether the revision has nothing to run: `deploy` creates a deployment before it uploads the source or image.
 * Such a revision waits in QUEUED and is SKIPPED later.
 */
export function isEmpty(source: DeploymentSource, config: SourceRevisionConfig): boolean {
  const needed = NEEDED[source];
  return needed !== null && config[needed] == null;
}
