import type { ComputeType, DeploymentSource, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import type { PodRules } from '../drivers/kubernetes/pod-wishes.ts';
import { isEmpty } from '../revisions/empty-revision.ts';
import { checkResources } from './resource-rules.ts';
import { checkFields, wrongSource } from './source-fields.ts';

/** What is to be run: a deployment's source, and that of the revision, with all they are configured with. */
export interface SourceState {
  /** Of the deployment. */
  source: DeploymentSource;
  /** Of the revision: another one where the caller said so. */
  revisionSource: DeploymentSource;
  /** Without nulls. */
  config: SourceConfig;
  /** Without nulls. */
  revisionConfig: SourceRevisionConfig;
  /** Of the listener that runs it; null: the platform itself does. */
  computeType: ComputeType | null;
  /** Of the cluster that runs it; null where it runs elsewhere, or its data plane has not said them yet. */
  pods: PodRules | null;
}

/**
 * Whether the fields go together, by what they say alone: nothing is looked up.
 *
 * @throws BadRequestError naming the field that is wrong; UnprocessableError where it is one of the resources
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
    throw missing('source_revision_config.langgraph_config_path', revisionSource);
}

function checkRepository({ repo_url: url }: SourceConfig): void {
  if (url == null) throw missing('source_config.repo_url', 'github');
  // It is stored and shown as it is.
  if (URL.canParse(url) && new URL(url).password) {
    throw wrongSource("'source_config.repo_url' must not hold a password");
  }
}

function checkRepositoryRevision({ source, config, revisionConfig }: SourceState): void {
  if (source !== 'github') {
    throw wrongSource(`'revision_source' cannot be 'github' for the source '${source}', which names no repository`);
  }
  const { repo_ref: ref, langgraph_config_path: path } = revisionConfig;
  if (ref == null) return;
  if (path == null) throw missing('source_revision_config.langgraph_config_path', 'github');
  if (config.build_on_push && ref.startsWith('refs/tags/')) {
    throw wrongSource("'source_config.build_on_push' is for branches, and 'source_revision_config.repo_ref' is a tag");
  }
}

const IMAGES: readonly DeploymentSource[] = ['external_docker', 'internal_docker', 'github', 'internal_source'];

/** What the data plane of each type can run: images, those that the platform makes of projects among them, or folders of its machine. */
const RUN_BY: Readonly<Record<ComputeType, readonly DeploymentSource[]>> = {
  k8s: IMAGES,
  docker: IMAGES,
  process: ['local_directory'],
};

function checkPlacement({ revisionSource: source, config, computeType: type }: SourceState): void {
  const { listener_id: listener, listener_config: placement, custom_url: url } = config;
  if (type !== null && !RUN_BY[type].includes(source)) {
    throw wrongSource(`the source '${source}' cannot be run by a listener of the compute type '${type}'`);
  }
  if (listener == null && placement?.k8s_namespace != null) {
    throw wrongSource("'source_config.listener_config' must be null without 'source_config.listener_id'");
  }
  if (url != null && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw wrongSource("'source_config.custom_url' must be an http or https URL");
  }
}

function checkConfigPath(path: string): void {
  const parts = path.split(/[\\/]/);
  if (path.startsWith('/') || parts.includes('..')) {
    throw wrongSource("'source_revision_config.langgraph_config_path' must be inside the project's folder");
  }
}

function missing(field: string, source: DeploymentSource): Error {
  return wrongSource(`'${field}' is required for the source '${source}'`);
}
