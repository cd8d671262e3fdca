import type { DeploymentSource, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';

/** Settled when a deployment is made. */
export const IMMUTABLE = [
  'integration_id',
  'repo_url',
  'project_path',
  'deployment_type',
  'listener_id',
  'listener_config',
] as const satisfies readonly (keyof SourceConfig)[];

/** Every source has these beside its own. */
const COMMON = ['deployment_type', 'resource_spec', 'custom_url'] as const;
/** Of all that may be run as an image. */
const ELSEWHERE = ['listener_id', 'listener_config'] as const;
const COMMANDS = ['install_command', 'build_command'] as const;

/** What each source takes. An image of one's own may also be built by the platform, for a revision from an archive. */
const FIELDS: Readonly<
  Record<
    DeploymentSource,
    { deployment: readonly (keyof SourceConfig)[]; revision: readonly (keyof SourceRevisionConfig)[] }
  >
> = {
  github: {
    deployment: ['integration_id', 'repo_url', 'build_on_push', ...COMMANDS, ...ELSEWHERE],
    revision: ['repo_ref', 'repo_commit_sha', 'langgraph_config_path'],
  },
  external_docker: { deployment: [...COMMANDS, ...ELSEWHERE], revision: ['image_uri'] },
  internal_docker: { deployment: [...COMMANDS, ...ELSEWHERE], revision: ['image_uri'] },
  internal_source: {
    deployment: [...COMMANDS, ...ELSEWHERE],
    revision: ['source_tarball_path', 'langgraph_config_path'],
  },
  local_directory: { deployment: ['project_path', 'listener_id'], revision: ['langgraph_config_path'] },
};

/** @throws BadRequestError naming the first field that is of another source */
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
  if (other !== undefined) throw wrongSource(`'${place.name}.${other}' must be null for the source '${place.source}'`);
}

/** Fields no source knows may come with newer clients. */
const ALL: ReadonlySet<string> = new Set([
  ...COMMON,
  ...Object.values(FIELDS).flatMap(({ deployment, revision }) => [...deployment, ...revision]),
]);

/** A configuration that cannot be meant; the text is for the caller. */
export function wrongSource(message: string): BadRequestError {
  return new BadRequestError(`Source configuration error: ${message}.`);
}
