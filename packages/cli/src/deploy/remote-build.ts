import type { DeploymentPatch, Secret } from '@runyard/contracts';
import type { ControlPlane } from '../connection/control-plane.ts';
import type { Http } from '../connection/http.ts';
import type { Steps } from '../output/steps.ts';
import { archiveProject, MEBIBYTE } from '../project/archive.ts';
import type { DeployableProject } from '../project/project.ts';
import { uploadArchive } from './upload.ts';

/** Uploads a project and returns the change that makes the platform build it. */
export async function sendSource(options: {
  controlPlane: ControlPlane;
  http: Http;
  steps: Steps;
  project: DeployableProject;
  deploymentId: string;
  secrets: Secret[];
  installCommand: string | undefined;
  buildCommand: string | undefined;
  interrupted: AbortSignal;
}): Promise<DeploymentPatch> {
  const { controlPlane, steps, project, installCommand, buildCommand } = options;
  steps.begin('Packing the project');
  const archive = await archiveProject(project, options.interrupted);
  try {
    steps.info(`${(archive.bytes / MEBIBYTE).toFixed(1)} MB, ${archive.files} files`);
    for (const warning of archive.warnings) steps.warn(warning);
    steps.begin('Uploading it');
    const target = await controlPlane.requestUploadUrl(options.deploymentId);
    await uploadArchive({ http: options.http, target, archive, progress: steps.progress });
    const commands = {
      ...(installCommand !== undefined && { install_command: installCommand }),
      ...(buildCommand !== undefined && { build_command: buildCommand }),
    };
    return {
      revision_source: 'internal_source',
      source_revision_config: {
        source_tarball_path: target.object_path,
        langgraph_config_path: project.configPath,
      },
      ...(Object.keys(commands).length > 0 && { source_config: commands }),
      secrets: options.secrets,
    };
  } finally {
    await archive.remove();
  }
}
