import type { DeploymentSource, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';

/** Fields that cannot change after a deployment is created. */
export const IMMUTABLE_FIELDS = [
  'integration_id',
  'repo_url',
  'project_path',
  'deployment_type',
  'listener_id',
  'listener_config',
] as const satisfies readonly (keyof SourceConfig)[];

/** Fields of every source. */
const COMMON = ['deployment_type', 'resource_spec', 'custom_url'] as const;
/** Fields of sources that run as images, which a listener may run. */
const REMOTE = ['listener_id', 'listener_config'] as const;
const COMMANDS = ['install_command', 'build_command'] as const;

/**
 * The fields of each source. A deployment from an external image has build commands, because its revisions may also be
 * built from an uploaded archive.
 */
const FIELDS: Readonly<
  Record<
    DeploymentSource,
    { deployment: readonly (keyof SourceConfig)[]; revision: readonly (keyof SourceRevisionConfig)[] }
  >
> = {
  github: {
    deployment: ['integration_id', 'repo_url', 'build_on_push', ...COMMANDS, ...REMOTE],
    revision: ['repo_ref', 'repo_commit_sha', 'langgraph_config_path'],
  },
  external_docker: { deployment: [...COMMANDS, ...REMOTE], revision: ['image_uri'] },
  internal_docker: { deployment: [...COMMANDS, ...REMOTE], revision: ['image_uri'] },
  internal_source: {
    deployment: [...COMMANDS, ...REMOTE],
    revision: ['source_tarball_path', 'langgraph_config_path'],
  },
  local_directory: { deployment: ['project_path', 'listener_id'], revision: ['langgraph_config_path'] },
};

/** @throws BadRequestError that names the first field of another source */
export function checkFields(
  source: DeploymentSource,
  revisionSource: DeploymentSource,
  { config, revisionConfig }: { config: SourceConfig; revisionConfig: SourceRevisionConfig },
): void {
  refuseOthers(config, [...COMMON, ...FIELDS[source].deployment], { name: 'source_config', source });
  const place = { name: 'source_revision_config', source: revisionSource };
  refuseOthers(revisionConfig, FIELDS[revisionSource].revision, place);
}

function refuseOthers(given: object, allowed: readonly string[], place: { name: string; source: string }): void {
  const known = new Set(allowed);
  const other = Object.keys(given).find((field) => ALL.has(field) && !known.has(field));
  if (other !== undefined)
    throw invalidSource(`'${place.name}.${other}' must be null for the source '${place.source}'`);
}

/** All known fields. Unknown ones are accepted, as newer clients may send them. */
const ALL: ReadonlySet<string> = new Set([
  ...COMMON,
  ...Object.values(FIELDS).flatMap(({ deployment, revision }) => [...deployment, ...revision]),
]);

/** Makes the error for an invalid source configuration. The message is for the caller. */
export function invalidSource(message: string): BadRequestError {
  return new BadRequestError(`Source configuration error: ${message}.`, { code: 'source_invalid' });
}

/** @param field its path in the request */
export function missingField(field: string, source: DeploymentSource): BadRequestError {
  return invalidSource(`'${field}' is required for the source '${source}'`);
}
