import type { DeploymentSource, SourceRevisionConfig } from '@runyard/contracts';

/** The field of a revision without which a source has nothing to run; of a folder it is the deployment's own. */
const NEEDED: Readonly<Record<DeploymentSource, keyof SourceRevisionConfig | null>> = {
  github: 'repo_ref',
  external_docker: 'image_uri',
  internal_docker: 'image_uri',
  internal_source: 'source_tarball_path',
  local_directory: null,
};

/** Nothing to run yet: `deploy` makes a deployment before what it runs. Such a revision waits in QUEUED, and is SKIPPED. */
export function isEmpty(source: DeploymentSource, config: SourceRevisionConfig): boolean {
  const needed = NEEDED[source];
  return needed !== null && config[needed] == null;
}
