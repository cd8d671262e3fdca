import type {
  DeploymentPatch,
  DeploymentSource,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import { checkReferences, checkSecrets, IMMUTABLE_FIELDS, invalidSource, isEmpty } from '@runyard/deployments';
import { InvalidFieldError } from '@runyard/service-kit';
import type { Deployment, Revision } from '../generated/client.ts';
import type { ChangeDependencies } from './change-dependencies.ts';
import { type StoredSourceConfig, toStoredUrl } from './custom-url.ts';
import type { PlanChange } from './desired-state.ts';
import { omitNulls } from './omit-nulls.ts';

/** The specification of a deployment after a change, and whether the change makes a revision. */
export interface DesiredSpec {
  /** Undefined leaves it as it is. */
  displayName?: string | undefined;
  revisionSource: DeploymentSource;
  sourceConfig: SourceConfig;
  sourceRevisionConfig: SourceRevisionConfig;
  encryptedSecrets: string | null;
  secretReferences: SecretReference[];
  trackedPackages: string[];
  makesRevision: boolean;
}

/** Returns whether a change needs a new revision, because processes read these fields only when they start. */
export function needsRevision(patch: DeploymentPatch): boolean {
  return (
    patch.secrets != null ||
    patch.secret_references != null ||
    patch.source_config?.resource_spec != null ||
    Object.keys(removeComputedFields(patch.source_revision_config)).length > 0
  );
}

/** @throws InvalidFieldError that names a field of a new revision in a change that makes none */
function checkNoRevisionFields(patch: DeploymentPatch): void {
  const field = (['revision_source', 'tracked_packages'] as const).find((each) => patch[each] != null);
  if (field === undefined) return;
  const msg = `It is of a new revision, which nothing else here makes: POST it to the deployment's revisions`;
  throw new InvalidFieldError(['body', field], msg);
}

/**
 * Returns the fields of a source as they are stored: without nulls and computed fields.
 *
 * @param options.isRemote whether a listener runs the deployment
 * @param options.urls the deployment's current URLs: sending one back changes nothing
 * @throws BadRequestError for another `custom_url` where the platform chooses it
 */
export function toStoredSourceConfig(
  source: DeploymentSource,
  config: SourceConfig | null | undefined,
  { isRemote = config?.listener_id != null, urls = [] }: { isRemote?: boolean; urls?: readonly (string | null)[] } = {},
): StoredSourceConfig {
  const { custom_url: wanted, resource_spec: resources, ...rest } = omitNulls(config);
  const { custom_url_as_sent: _, ...fields }: StoredSourceConfig = rest;
  const isChanged = wanted != null && !urls.includes(wanted);
  // A custom URL is only for external images and remote deployments.
  if (isChanged && source !== 'external_docker' && !isRemote) {
    throw invalidSource(`'source_config.custom_url' is read-only for the source '${source}'`);
  }
  return {
    ...fields,
    ...(resources ? { resource_spec: omitNulls(resources) } : {}),
    ...(isChanged ? toStoredUrl(wanted) : {}),
  };
}

/**
 * @param urls the deployment's current URLs
 * @throws BadRequestError when a field that is immutable or read-only would change
 */
export function changeSourceConfig(
  source: DeploymentSource,
  current: StoredSourceConfig,
  change: SourceConfig | null | undefined,
  urls: readonly (string | null)[] = [],
): SourceConfig {
  const fields = toStoredSourceConfig(source, change, { isRemote: current.listener_id != null, urls });
  for (const field of IMMUTABLE_FIELDS) {
    if (fields[field] !== undefined && JSON.stringify(fields[field]) !== JSON.stringify(current[field])) {
      throw invalidSource(`'source_config.${field}' cannot change`);
    }
  }
  if (fields.custom_url === undefined) return { ...current, ...fields };
  const { custom_url_as_sent: _former, ...kept } = current;
  return { ...kept, ...fields };
}

/**
 * Returns the source of the next revision. A change that names nothing to run runs the latest revision's source again.
 * Fields of the latest revision are kept only if it has the same source.
 *
 * @throws BadRequestError when `revision_source` names another source, and the patch has no field of it
 */
export function changeRevisionSource(
  deployment: Pick<Deployment, 'source'>,
  latest: Pick<Revision, 'source' | 'sourceRevisionConfig'>,
  patch: DeploymentPatch,
): Pick<DesiredSpec, 'revisionSource' | 'sourceRevisionConfig'> {
  const fields = removeComputedFields(patch.source_revision_config);
  const byDefault = Object.keys(fields).length > 0 ? deployment.source : latest.source;
  const revisionSource = patch.revision_source ?? (byDefault as DeploymentSource);
  const current = removeComputedFields(latest.sourceRevisionConfig as SourceRevisionConfig);
  const isOther = revisionSource !== latest.source;
  if (isOther && patch.revision_source != null && isEmpty(revisionSource, fields)) {
    throw invalidSource(
      `'revision_source' is '${revisionSource}', and 'source_revision_config' has nothing of it to run`,
    );
  }
  return { revisionSource, sourceRevisionConfig: isOther ? fields : { ...current, ...fields } };
}

/**
 * @param shown the commit of the latest revision, which callers may send back
 * @throws BadRequestError for another commit, as a build uses the current commit of its branch or tag
 */
export function checkCommit(config: SourceRevisionConfig | null | undefined, shown?: string | null): void {
  const { repo_commit_sha: named } = omitNulls(config);
  if (named !== undefined && named !== shown) {
    throw invalidSource("'source_revision_config.repo_commit_sha' is read-only: name a branch or a tag by 'repo_ref'");
  }
}

/** Removes the commit, which a build determines anew. */
export function removeComputedFields(config: SourceRevisionConfig | null | undefined): SourceRevisionConfig {
  const { repo_commit_sha: _found, ...fields } = omitNulls(config);
  return fields;
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

function sourceOfRevision(
  revision: Pick<Revision, 'source' | 'sourceRevisionConfig'>,
): Pick<DesiredSpec, 'revisionSource' | 'sourceRevisionConfig'> {
  return {
    revisionSource: revision.source as DeploymentSource,
    sourceRevisionConfig: revision.sourceRevisionConfig as SourceRevisionConfig,
  };
}
