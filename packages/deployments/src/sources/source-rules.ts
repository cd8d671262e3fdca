import type { ComputeType, DeploymentSource, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import type { PodRules } from '../compute/pod-overrides.ts';
import { driverKindOf } from '../drivers/driver-kinds.ts';
import { isEmpty } from '../revisions/empty-revision.ts';
import { checkResources } from './resource-rules.ts';
import { checkFields, invalidSource, missingField } from './source-fields.ts';

/** The sources of a deployment and of its revision, with their configurations. */
export interface SourceState {
  /** The deployment's source. */
  source: DeploymentSource;
  /** The revision's source, which differs from the deployment's if the caller said so. */
  revisionSource: DeploymentSource;
  /** Without nulls. */
  config: SourceConfig;
  /** Without nulls. */
  revisionConfig: SourceRevisionConfig;
  /** The compute type of the listener that runs it; null when the platform itself does. */
  computeType: ComputeType | null;
  /** The pod rules of the cluster that runs it; null outside a cluster, and until its data plane has reported them. */
  pods: PodRules | null;
}

/**
 * Checks that the fields are valid together. It looks nothing up.
 *
 * @throws BadRequestError that names the invalid field; UnprocessableError for fields of the resources
 */
export function checkSourceRules(state: SourceState): void {
  const { source, revisionSource, config, revisionConfig } = state;
  checkPlacement(state);
  checkFields(source, revisionSource, state);
  if (source === 'github') checkRepository(config);
  if (revisionSource === 'github') checkRepositoryRevision(state);
  checkResources(config.resource_spec ?? {}, state);
  if (revisionConfig.langgraph_config_path != null) checkConfigPath(revisionConfig.langgraph_config_path);
  const isBuilt = revisionSource === 'internal_source' && !isEmpty(revisionSource, revisionConfig);
  if (isBuilt && revisionConfig.langgraph_config_path == null)
    throw missingField('source_revision_config.langgraph_config_path', revisionSource);
}

function checkRepository({ repo_url: url }: SourceConfig): void {
  if (url == null) throw missingField('source_config.repo_url', 'github');
  // The URL is stored and shown as it is, so it must not contain a password.
  if (URL.canParse(url) && new URL(url).password) {
    throw invalidSource("'source_config.repo_url' must not hold a password");
  }
}

function checkRepositoryRevision({ source, config, revisionConfig }: SourceState): void {
  if (source !== 'github') {
    throw invalidSource(`'revision_source' cannot be 'github' for the source '${source}', which names no repository`);
  }
  const { repo_ref: ref, langgraph_config_path: path } = revisionConfig;
  if (ref == null) return;
  if (path == null) throw missingField('source_revision_config.langgraph_config_path', 'github');
  if (config.build_on_push && ref.startsWith('refs/tags/')) {
    throw invalidSource(
      "'source_config.build_on_push' is for branches, and 'source_revision_config.repo_ref' is a tag",
    );
  }
}

/** Returns whether a listener of the type runs the source: a folder of its machine, or else what the platform builds. */
function isRunBy(type: ComputeType, source: DeploymentSource): boolean {
  return driverKindOf(type).accepts === (source === 'local_directory' ? 'project' : 'image');
}

function checkPlacement({ revisionSource: source, config, computeType: type }: SourceState): void {
  const { listener_id: listener, listener_config: placement, custom_url: url } = config;
  if (type !== null && !isRunBy(type, source)) {
    throw invalidSource(`the source '${source}' cannot be run by a listener of the compute type '${type}'`);
  }
  if (listener == null && placement?.k8s_namespace != null) {
    throw invalidSource("'source_config.listener_config' must be null without 'source_config.listener_id'");
  }
  if (url != null && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw invalidSource("'source_config.custom_url' must be an http or https URL, or the name of a host");
  }
}

function checkConfigPath(path: string): void {
  const parts = path.split(/[\\/]/);
  if (path.startsWith('/') || parts.includes('..')) {
    throw invalidSource("'source_revision_config.langgraph_config_path' must be inside the project's folder");
  }
}
