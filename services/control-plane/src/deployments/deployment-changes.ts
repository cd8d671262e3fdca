import type {
  DeploymentPatch,
  DeploymentSource,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import type { Deployment, Revision } from '../generated/client.ts';
import { checkReferences } from '../secrets/secret-references.ts';
import { checkSecrets, type SecretSets } from '../secrets/secret-set.ts';
import type { Decide } from './desired-state.ts';
import { given } from './given.ts';
import { keptResources } from './resource-rules.ts';
import { IMMUTABLE, wrongSource } from './source-fields.ts';

/** What a deployment is to be after a change, and the revision that comes of it, if one does. */
export interface Desired {
  revisionSource: DeploymentSource;
  sourceConfig: SourceConfig;
  sourceRevisionConfig: SourceRevisionConfig;
  sealedSecrets: string | null;
  secretReferences: SecretReference[];
  trackedPackages: string[];
  makesRevision: boolean;
}

/** Whether a change needs a new revision: what a running revision was started with cannot change under it. */
export function needsRevision(patch: DeploymentPatch): boolean {
  return (
    patch.secrets != null ||
    patch.secret_references != null ||
    patch.source_config?.resource_spec != null ||
    Object.keys(withoutComputed(patch.source_revision_config)).length > 0
  );
}

/**
 * Fields of a source as they are stored: without nulls and what the platform computes.
 *
 * @param isRemote run by a listener
 */
export function keptSourceConfig(
  source: DeploymentSource,
  config: SourceConfig | null | undefined,
  isRemote = config?.listener_id != null,
): SourceConfig {
  const { custom_url: url, resource_spec: resources, ...fields } = given(config);
  return {
    ...fields,
    ...(resources ? { resource_spec: keptResources(resources) } : {}),
    // Only an image from elsewhere, and what runs elsewhere, may be reached elsewhere.
    ...(url && (source === 'external_docker' || isRemote) ? { custom_url: url } : {}),
  };
}

/** @throws BadRequestError when a field that is fixed at creation would change */
export function changedSourceConfig(
  source: DeploymentSource,
  current: SourceConfig,
  change: SourceConfig | null | undefined,
): SourceConfig {
  const fields = keptSourceConfig(source, change, current.listener_id != null);
  for (const field of IMMUTABLE) {
    if (fields[field] !== undefined && JSON.stringify(fields[field]) !== JSON.stringify(current[field])) {
      throw wrongSource(`'source_config.${field}' cannot change`);
    }
  }
  return { ...current, ...fields };
}

/**
 * What the next revision comes from, and how. A change that names nothing to run runs the same again; what was configured
 * for another source does not count.
 */
export function changedRevision(
  deployment: Pick<Deployment, 'source'>,
  latest: Pick<Revision, 'source' | 'sourceRevisionConfig'>,
  patch: DeploymentPatch,
): Pick<Desired, 'revisionSource' | 'sourceRevisionConfig'> {
  const fields = withoutComputed(patch.source_revision_config);
  const byDefault = Object.keys(fields).length > 0 ? deployment.source : latest.source;
  const revisionSource = patch.revision_source ?? (byDefault as DeploymentSource);
  const current = withoutComputed(latest.sourceRevisionConfig as SourceRevisionConfig);
  return {
    revisionSource,
    sourceRevisionConfig: revisionSource === latest.source ? { ...current, ...fields } : fields,
  };
}

/** A commit is what a build found; the next one looks again. */
export function withoutComputed(config: SourceRevisionConfig | null | undefined): SourceRevisionConfig {
  const { repo_commit_sha: _found, ...fields } = given(config);
  return fields;
}

/**
 * The change that a patch asks for.
 *
 * @param makesRevision whatever the patch holds; default: when it holds something a running revision cannot take up
 */
export function changesOf(
  secrets: SecretSets,
  patch: DeploymentPatch,
  { makesRevision = needsRevision(patch) } = {},
): Decide {
  if (patch.secrets) checkSecrets(patch.secrets);
  return (current, latest) => {
    const source = current.source as DeploymentSource;
    const references = patch.secret_references ?? (current.secretReferences as unknown as SecretReference[]);
    if (patch.secrets || patch.secret_references) {
      checkReferences(references, patch.secrets ?? secrets.open(current.id, current.sealedSecrets));
    }
    return {
      ...(makesRevision ? changedRevision(current, latest, patch) : revisionOf(latest)),
      sourceConfig: changedSourceConfig(source, current.sourceConfig as SourceConfig, patch.source_config),
      sealedSecrets: patch.secrets ? secrets.seal(current.id, patch.secrets) : current.sealedSecrets,
      secretReferences: references,
      trackedPackages: patch.tracked_packages ?? latest.trackedPackages,
      makesRevision,
    };
  };
}

/** Everything as it was for an earlier revision, the commit that was built included. */
export function repetitionOf(revision: Revision): Desired {
  return {
    ...revisionOf(revision),
    sourceConfig: revision.sourceConfig as SourceConfig,
    sealedSecrets: revision.sealedSecrets,
    secretReferences: revision.secretReferences as unknown as SecretReference[],
    trackedPackages: revision.trackedPackages,
    makesRevision: true,
  };
}

function revisionOf(
  revision: Pick<Revision, 'source' | 'sourceRevisionConfig'>,
): Pick<Desired, 'revisionSource' | 'sourceRevisionConfig'> {
  return {
    revisionSource: revision.source as DeploymentSource,
    sourceRevisionConfig: revision.sourceRevisionConfig as SourceRevisionConfig,
  };
}
