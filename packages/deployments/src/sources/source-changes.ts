import type { DeploymentPatch, DeploymentSource, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import { isEmpty } from '../revisions/empty-revision.ts';
import type { RolloutRevision } from '../revisions/rollout-rows.ts';
import { type StoredSourceConfig, toStoredUrl } from './custom-url.ts';
import { IMMUTABLE_FIELDS, invalidSource } from './source-fields.ts';

/** The source of a revision, with its configuration. */
export interface RevisionSource {
  revisionSource: DeploymentSource;
  sourceRevisionConfig: SourceRevisionConfig;
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
export function checkNoRevisionFields(patch: DeploymentPatch): void {
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
  deployment: { source: string },
  latest: Pick<RolloutRevision, 'source' | 'sourceRevisionConfig'>,
  patch: DeploymentPatch,
): RevisionSource {
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

/** Returns the fields that have a value: a null means the same as a missing field. */
function omitNulls<T extends object>(fields: T | null | undefined): Partial<T> {
  const entries = Object.entries(fields ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as Partial<T>;
}
