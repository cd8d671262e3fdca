import type { DeploymentSource, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import { openLocalDirectory } from './local-directory.ts';
import { checkUploaded } from './uploads/uploads.ts';

export interface CheckedSource {
  deploymentId: string;
  source: DeploymentSource;
  sourceConfig: SourceConfig;
  sourceRevisionConfig: SourceRevisionConfig;
}

/**
 * Whether what a revision is to run is there at all, as far as that can be told before it is built.
 *
 * @throws BadRequestError with what is missing
 */
export async function checkSource(
  queries: Queries,
  { deploymentId, source, sourceConfig, sourceRevisionConfig }: CheckedSource,
  { localProjects }: { localProjects: boolean },
): Promise<void> {
  if (source === 'internal_source') {
    const { source_tarball_path: objectPath } = sourceRevisionConfig;
    if (objectPath != null) await checkUploaded(queries, deploymentId, objectPath);
  }
  if (source === 'local_directory') {
    if (!localProjects) {
      throw new BadRequestError(
        "Source configuration error: 'local_directory' is switched off here (LOCAL_PROJECTS).",
      );
    }
    await openLocalDirectory({ ...sourceConfig, ...sourceRevisionConfig });
  }
}
