import type { ComputeType, DeploymentSource, PodRules as ReportedPodRules, SourceConfig } from '@runyard/contracts';
import type { PodRules } from '@runyard/deployments';
import { chooseNamespace, invalidSource } from '@runyard/deployments';
import type { Tenant } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Listener } from '../generated/client.ts';
import { listenerStore } from './listener-store.ts';

/** The data plane that a new deployment runs on. */
export interface Placement {
  /** The source configuration with the listener and the namespace filled in. */
  sourceConfig: SourceConfig;
  listenerId: string | null;
  dataPlaneUrl: string | null;
}

/**
 * Determines where a new deployment runs.
 *
 * @throws BadRequestError when the workspace has no such listener, the listener has no such namespace, or one has to be
 * named
 */
export async function placeDeployment(
  queries: Queries,
  tenant: Tenant,
  source: DeploymentSource,
  config: SourceConfig,
): Promise<Placement> {
  const { listener_id: id, listener_config: wanted, ...fields } = config;
  if (id == null) {
    if (source === 'external_docker') await checkNoListenerRequired(queries, tenant);
    return { sourceConfig: config, listenerId: null, dataPlaneUrl: null };
  }
  const listener = await requireListener(queries, tenant, id);
  const namespace = chooseNamespace(
    { type: listener.computeType as ComputeType, namespaces: listenerStore.namespacesOf(listener) },
    wanted?.k8s_namespace ?? null,
  );
  const sourceConfig = {
    ...fields,
    listener_id: listener.id,
    ...(namespace === null ? {} : { listener_config: { k8s_namespace: namespace } }),
  };
  return { sourceConfig, listenerId: listener.id, dataPlaneUrl: listener.publicUrl };
}

/** Returns the compute type and pod rules of a deployment's listener; null when the platform runs it itself. */
export async function findCompute(
  queries: Queries,
  tenant: Tenant,
  { listener_id: id }: SourceConfig,
): Promise<{ computeType: ComputeType; pods: PodRules | null } | null> {
  if (id == null) return null;
  const { computeType, podRules } = await requireListener(queries, tenant, id);
  const rules = podRules as ReportedPodRules | null;
  return {
    computeType: computeType as ComputeType,
    pods: rules && { metadata: rules.metadata, pullSecrets: rules.pull_secrets },
  };
}

async function requireListener(queries: Queries, tenant: Tenant, id: string): Promise<Listener> {
  const listener = await listenerStore.find(queries, tenant, id.toLowerCase());
  if (!listener) throw invalidSource(`Listener ID ${id} not found`);
  return listener;
}

/** A workspace with listeners for images runs its images there, so one of them has to be named. */
async function checkNoListenerRequired(queries: Queries, tenant: Tenant): Promise<void> {
  const ids = await listenerStore.idsForImages(queries, tenant);
  if (ids.length === 0) return;
  const list = ids.map((id) => `'${id}'`).join(', ');
  throw invalidSource(`'source_config.listener_id' is required for workspace with available listener IDs: [${list}]`);
}
