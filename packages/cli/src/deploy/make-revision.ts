import type { Deployment, DeploymentPatch, Revision, SourceRevisionConfig } from '@runyard/contracts';
import type { ControlPlane } from '../connection/control-plane.ts';
import { UnknownOutcomeError } from '../connection/http.ts';
import { PlatformRefusedError } from '../connection/refusals.ts';

const TRIES = 3;

/** The result of changing a deployment. */
export interface ChangedDeployment {
  deployment: Deployment;
  revisionId: string;
}

/**
 * Creates one revision of a deployment: when the answer is lost, it checks whether the revision exists before it asks
 * again.
 */
export async function makeRevision(
  controlPlane: ControlPlane,
  deploymentId: string,
  body: DeploymentPatch,
): Promise<ChangedDeployment> {
  const before = await controlPlane.getDeployment(deploymentId);
  for (let tries = 1; ; tries += 1) {
    try {
      return await revisionOf(controlPlane, await controlPlane.patchDeployment(deploymentId, body));
    } catch (error) {
      if (!mayHaveSucceeded(error)) throw error;
      const made = await findRevisionSince(before, controlPlane, body.source_revision_config ?? {});
      if (made) return made;
      if (tries === TRIES) throw error;
    }
  }
}

function mayHaveSucceeded(error: unknown): boolean {
  return error instanceof UnknownOutcomeError || (error instanceof PlatformRefusedError && error.status >= 500);
}

async function findRevisionSince(
  before: Deployment,
  controlPlane: ControlPlane,
  wanted: SourceRevisionConfig,
): Promise<ChangedDeployment | null> {
  const deployment = await controlPlane.getDeployment(before.id);
  if (!deployment.latest_revision_id || deployment.latest_revision_id === before.latest_revision_id) return null;
  const revision = await controlPlane.getRevision(deployment.id, deployment.latest_revision_id);
  return isOf(revision, wanted) ? { deployment, revisionId: revision.id } : null;
}

function isOf({ source_revision_config: made }: Revision, wanted: SourceRevisionConfig): boolean {
  return made.source_tarball_path === wanted.source_tarball_path && made.image_uri === wanted.image_uri;
}

async function revisionOf(controlPlane: ControlPlane, deployment: Deployment): Promise<ChangedDeployment> {
  if (deployment.latest_revision_id) return { deployment, revisionId: deployment.latest_revision_id };
  const [latest] = await controlPlane.listRevisions(deployment.id, 1);
  return { deployment, revisionId: latest?.id ?? '' };
}
