import type {
  DeploymentPatch,
  DeploymentSource,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import {
  changeRevisionSource,
  changeSourceConfig,
  checkCommit,
  checkNoRevisionFields,
  checkReferences,
  checkSecrets,
  needsRevision,
  type RevisionSource,
} from '@runyard/deployments';
import type { Revision } from '../generated/client.ts';
import type { ChangeDependencies } from './change-dependencies.ts';
import type { PlanChange } from './desired-state.ts';

/** The specification of a deployment after a change, and whether the change makes a revision. */
export interface DesiredSpec extends RevisionSource {
  /** Undefined leaves it as it is. */
  displayName?: string | undefined;
  sourceConfig: SourceConfig;
  encryptedSecrets: string | null;
  secretReferences: SecretReference[];
  trackedPackages: string[];
  makesRevision: boolean;
}

/**
 * Returns the function that applies a patch to a deployment.
 *
 * @param makesRevision default: whether the patch has a field that running processes cannot take up
 */
export function planPatch(
  { secrets, view }: Pick<ChangeDependencies, 'secrets' | 'view'>,
  patch: DeploymentPatch,
  { makesRevision = needsRevision(patch) } = {},
): PlanChange {
  if (!makesRevision) checkNoRevisionFields(patch);
  return (current, latest) => {
    const source = current.source as DeploymentSource;
    const config = current.sourceConfig as SourceConfig;
    const { repo_commit_sha: commit } = current.sourceRevisionConfig as SourceRevisionConfig;
    checkCommit(patch.source_revision_config, commit);
    const currentSecrets =
      patch.secrets || patch.secret_references ? secrets.decrypt(current.id, current.encryptedSecrets) : [];
    if (patch.secrets) checkSecrets(patch.secrets);
    const references = patch.secret_references ?? (current.secretReferences as unknown as SecretReference[]);
    if (patch.secrets || patch.secret_references) {
      checkReferences(references, patch.secrets ?? currentSecrets);
    }
    return {
      displayName: patch.display_name ?? undefined,
      ...(makesRevision ? changeRevisionSource(current, latest, patch) : sourceOfRevision(latest)),
      sourceConfig: changeSourceConfig(source, config, patch.source_config, view.shownUrlsOf(current)),
      encryptedSecrets: patch.secrets ? secrets.encrypt(current.id, patch.secrets) : current.encryptedSecrets,
      secretReferences: references,
      trackedPackages: patch.tracked_packages ?? latest.trackedPackages,
      makesRevision,
    };
  };
}

/** Returns the specification that repeats an earlier revision, including the commit that was built. */
export function redeploySpec(revision: Revision): DesiredSpec {
  return {
    ...sourceOfRevision(revision),
    sourceConfig: revision.sourceConfig as SourceConfig,
    encryptedSecrets: revision.encryptedSecrets,
    secretReferences: revision.secretReferences as unknown as SecretReference[],
    trackedPackages: revision.trackedPackages,
    makesRevision: true,
  };
}

function sourceOfRevision(revision: Pick<Revision, 'source' | 'sourceRevisionConfig'>): RevisionSource {
  return {
    revisionSource: revision.source as DeploymentSource,
    sourceRevisionConfig: revision.sourceRevisionConfig as SourceRevisionConfig,
  };
}
