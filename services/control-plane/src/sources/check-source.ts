import type { DeploymentSource, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import type { PodRules } from '@runyard/deployments';
import {
  checkImage,
  invalidSource,
  isBuiltSource,
  isImageSource,
  missingField,
  openLocalDirectory,
} from '@runyard/deployments';
import { checkRepositoryUrl, fullRef, type RepositoryRules } from '@runyard/git-servers';
import type { RegistryAddress } from '@runyard/image-registry';
import type { Tenant } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import { checkIntegration } from './github/integrations.ts';
import { checkUploaded } from './uploads/uploads.ts';

/** The rules of this installation for sources. */
export interface SourceRules {
  /** True when folders and repositories of this machine may be used. */
  localProjects: boolean;
  /** The platform's own registry. */
  registry: RegistryAddress;
  /** True when images can be made of projects, for data planes apart from this service. */
  makesImages: boolean;
  /** True when the platform's own deployments of projects run as processes, and not from images. */
  runsProjects: boolean;
  /** Networks (CIDR) that are not public and may contain repositories. */
  allowedNetworks?: string[] | undefined;
  /** The fields of pods that deployments may choose, where they run in a cluster. */
  pods?: PodRules | undefined;
}

export function repositoryRules({ localProjects, allowedNetworks }: SourceRules): RepositoryRules {
  return { allowsLocal: localProjects, allowedNetworks };
}

export interface CheckedSource {
  tenant: Tenant;
  deploymentId: string;
  source: DeploymentSource;
  sourceConfig: SourceConfig;
  sourceRevisionConfig: SourceRevisionConfig;
  /** True when the revision before runs the same folder: an edit of it that cannot be read is a revision that fails. */
  isSameFolder: boolean;
}

/**
 * Checks that the source of a revision exists, as far as that is known before the build.
 *
 * @throws BadRequestError that names what is missing
 */
export async function checkSource(
  queries: Queries,
  { tenant, deploymentId, source, sourceConfig, sourceRevisionConfig, isSameFolder }: CheckedSource,
  rules: SourceRules,
): Promise<void> {
  const isOfListener = sourceConfig.listener_id != null;
  const needsImage = isOfListener || !rules.runsProjects;
  if (needsImage && isBuiltSource(source) && !rules.makesImages) {
    throw invalidSource(
      `the source '${source}' becomes an image for a data plane, and the image that it is put on is not set here (PROJECT_BASE_IMAGE)`,
    );
  }
  if (source === 'internal_source') {
    const { source_tarball_path: objectPath } = sourceRevisionConfig;
    if (objectPath != null) await checkUploaded(queries, deploymentId, objectPath);
  }
  if (source === 'local_directory') {
    if (sourceConfig.listener_id == null && !rules.localProjects) {
      throw invalidSource("'local_directory' is switched off here (LOCAL_PROJECTS)");
    }
    // A listener's data plane has the folder on a machine of its own, and checks it itself.
    if (!isOfListener && !isSameFolder) await openLocalDirectory({ ...sourceConfig, ...sourceRevisionConfig });
    else if (sourceConfig.project_path == null)
      throw invalidSource("'source_config.project_path' is required for the source 'local_directory'");
  }
  if (source === 'github') await checkRepository(queries, tenant, { sourceConfig, sourceRevisionConfig }, rules);
  if (isImageSource(source)) checkImage(source, sourceRevisionConfig, { deploymentId, registry: rules.registry });
}

async function checkRepository(
  queries: Queries,
  tenant: Tenant,
  { sourceConfig, sourceRevisionConfig }: Pick<CheckedSource, 'sourceConfig' | 'sourceRevisionConfig'>,
  rules: SourceRules,
): Promise<void> {
  const { repo_url: repoUrl, integration_id: integrationId } = sourceConfig;
  const { repo_ref: ref, langgraph_config_path: configPath } = sourceRevisionConfig;
  if (repoUrl == null) throw invalidSource("'source_config.repo_url' is required for the source 'github'");
  checkRepositoryUrl(repoUrl, repositoryRules(rules));
  if (integrationId != null) await checkIntegration(queries, tenant, integrationId, repoUrl);
  if (ref != null) fullRef(ref);
  if (configPath == null) throw missingField('source_revision_config.langgraph_config_path', 'github');
}
