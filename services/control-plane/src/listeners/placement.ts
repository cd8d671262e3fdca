import type { ComputeType, DeploymentSource, PodRules as ReportedPodRules, SourceConfig } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { Tenant } from '../deployments/caller-scope.ts';
import { wrongSource } from '../deployments/source-fields.ts';
import type { PodRules } from '../drivers/kubernetes/pod-wishes.ts';
import type { Listener } from '../generated/client.ts';
import { listenerStore } from './listener-store.ts';

const NAMESPACE = "'source_config.listener_config.k8s_namespace'";

/** Where a new deployment is to run. */
export interface Placement {
  /** With the listener and the namespace named in full. */
  sourceConfig: SourceConfig;
  listenerId: string | null;
  dataPlaneUrl: string | null;
}

/**
 * Finds where a new deployment is to run.
 *
 * @throws BadRequestError when the workspace has no such listener, it has no such namespace, or one has to be named
 */
export async function placed(
  queries: Queries,
  tenant: Tenant,
  source: DeploymentSource,
  config: SourceConfig,
): Promise<Placement> {
  const { listener_id: id, listener_config: wanted, ...fields } = config;
  if (id == null) {
    if (source === 'external_docker') await checkNoneNeeded(queries, tenant);
    return { sourceConfig: config, listenerId: null, dataPlaneUrl: null };
  }
  const listener = await existing(queries, tenant, id);
  const namespace = namespaceOn(listener, wanted?.k8s_namespace ?? null);
  const sourceConfig = {
    ...fields,
    listener_id: listener.id,
    ...(namespace === null ? {} : { listener_config: { k8s_namespace: namespace } }),
  };
  return { sourceConfig, listenerId: listener.id, dataPlaneUrl: listener.publicUrl };
}

/** With what the listener of a deployment runs it; null: the platform itself does. */
export async function computeOf(
  queries: Queries,
  tenant: Tenant,
  { listener_id: id }: SourceConfig,
): Promise<{ computeType: ComputeType; pods: PodRules | null } | null> {
  if (id == null) return null;
  const { computeType, podRules } = await existing(queries, tenant, id);
  const rules = podRules as ReportedPodRules | null;
  return {
    computeType: computeType as ComputeType,
    pods: rules && { metadata: rules.metadata, pullSecrets: rules.pull_secrets },
  };
}

async function existing(queries: Queries, tenant: Tenant, id: string): Promise<Listener> {
  const listener = await listenerStore.find(queries, tenant, id.toLowerCase());
  if (!listener) throw wrongSource(`Listener ID ${id} not found`);
  return listener;
}

/** The only one there is need not be named. */
function namespaceOn(listener: Listener, wanted: string | null): string | null {
  if (listener.computeType !== ('k8s' satisfies ComputeType)) {
    if (wanted === null) return null;
    throw wrongSource(`${NAMESPACE} must be null for the compute type '${listener.computeType}'`);
  }
  const namespaces = listenerStore.namespacesOf(listener);
  const namespace = wanted ?? (namespaces.length === 1 ? namespaces[0] : undefined);
  if (namespace === undefined || !namespaces.includes(namespace)) {
    throw wrongSource(`${NAMESPACE} must be one of ${namespaces.map((each) => `'${each}'`).join(', ')}`);
  }
  return namespace;
}

/** Images of a workspace with data planes for them are run there. */
async function checkNoneNeeded(queries: Queries, tenant: Tenant): Promise<void> {
  const ids = await listenerStore.idsForImages(queries, tenant);
  if (ids.length === 0) return;
  const list = ids.map((id) => `'${id}'`).join(', ');
  throw wrongSource(`'source_config.listener_id' is required for workspace with available listener IDs: [${list}]`);
}
