import type {
  DeploymentPatch,
  DeploymentSource,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import type { Deployment, Revision } from '../generated/client.ts';
import { isEmpty } from '../revisions/empty-revision.ts';
import { checkReferences } from '../secrets/secret-references.ts';
import { checkSecrets } from '../secrets/secret-set.ts';
import type { Decide } from './desired-state.ts';
import { given } from './given.ts';
import { keptResources } from './resource-rules.ts';
import { IMMUTABLE, wrongSource } from './source-fields.ts';
import type { WantedParts } from './wanted-parts.ts';

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

/** @throws InvalidFieldError naming a field that is of a new revision, where a change makes none */
function checkMakesNone(patch: DeploymentPatch): void {
  const field = (['revision_source', 'tracked_packages'] as const).find((each) => patch[each] != null);
  if (field === undefined) return;
  const msg = `It is of a new revision, which nothing else here makes: POST it to the deployment's revisions`;
  throw new InvalidFieldError(['body', field], msg);
}

/**
 * Fields of a source as they are stored: without nulls and what the platform computes.
 *
 * @param options.isRemote run by a listener
 * @param options.urls where it is reached by now: sent back as it was shown, it changes nothing
 * @throws BadRequestError for another address, where that is the platform's to say
 */
export function keptSourceConfig(
  source: DeploymentSource,
  config: SourceConfig | null | undefined,
  { isRemote = config?.listener_id != null, urls = [] }: { isRemote?: boolean; urls?: readonly (string | null)[] } = {},
): SourceConfig {
  const { custom_url: wanted, resource_spec: resources, ...fields } = given(config);
  const isChanged = wanted != null && !urls.includes(wanted);
  // Only an image from elsewhere, and what runs elsewhere, may be reached elsewhere.
  if (isChanged && source !== 'external_docker' && !isRemote) {
    throw wrongSource(`'source_config.custom_url' is read-only for the source '${source}'`);
  }
  return {
    ...fields,
    ...(resources ? { resource_spec: keptResources(resources) } : {}),
    ...(isChanged ? { custom_url: wanted } : {}),
  };
}

/**
 * @param urls where it is reached by now
 * @throws BadRequestError when a field that is fixed at creation, or read-only, would change
 */
export function changedSourceConfig(
  source: DeploymentSource,
  current: SourceConfig,
  change: SourceConfig | null | undefined,
  urls: readonly (string | null)[] = [],
): SourceConfig {
  const fields = keptSourceConfig(source, change, { isRemote: current.listener_id != null, urls });
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
 *
 * @throws BadRequestError when it is to come from another source, and nothing of that is named
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
  const isOther = revisionSource !== latest.source;
  if (isOther && patch.revision_source != null && isEmpty(revisionSource, fields)) {
    throw wrongSource(
      `'revision_source' is '${revisionSource}', and 'source_revision_config' has nothing of it to run`,
    );
  }
  return { revisionSource, sourceRevisionConfig: isOther ? fields : { ...current, ...fields } };
}

/**
 * @param shown the commit of the latest revision, which may be sent back
 * @throws BadRequestError for another one: a build takes what its branch or tag is at
 */
export function checkCommit(config: SourceRevisionConfig | null | undefined, shown?: string | null): void {
  const { repo_commit_sha: named } = given(config);
  if (named !== undefined && named !== shown) {
    throw wrongSource("'source_revision_config.repo_commit_sha' is read-only: name a branch or a tag by 'repo_ref'");
  }
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
  { secrets, view }: Pick<WantedParts, 'secrets' | 'view'>,
  patch: DeploymentPatch,
  { makesRevision = needsRevision(patch) } = {},
): Decide {
  if (!makesRevision) checkMakesNone(patch);
  if (patch.secrets) checkSecrets(patch.secrets);
  return (current, latest) => {
    const source = current.source as DeploymentSource;
    const config = current.sourceConfig as SourceConfig;
    const { repo_commit_sha: commit } = current.sourceRevisionConfig as SourceRevisionConfig;
    checkCommit(patch.source_revision_config, commit);
    const references = patch.secret_references ?? (current.secretReferences as unknown as SecretReference[]);
    if (patch.secrets || patch.secret_references) {
      checkReferences(references, patch.secrets ?? secrets.open(current.id, current.sealedSecrets));
    }
    return {
      ...(makesRevision ? changedRevision(current, latest, patch) : revisionOf(latest)),
      sourceConfig: changedSourceConfig(source, config, patch.source_config, view.shownUrlsOf(current)),
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
