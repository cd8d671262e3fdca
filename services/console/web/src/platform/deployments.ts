import type {
  Deployment,
  DeploymentCreate,
  DeploymentList,
  DeploymentMetrics,
  DeploymentPatch,
  HaltRequest,
  HaltState,
} from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';

const PAGE = 100;
const METRICS_EVERY_MS = 15_000;
const HOUR_MS = 3_600_000;
const HALT_FRESH_MS = 30_000;

/** The deployments of a workspace that the person may see, all of them. */
export function deploymentsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['deployments', workspaceId],
    queryFn: ({ signal }) => listDeployments(workspaceId, signal),
  });
}

export function deploymentQuery(workspaceId: string, deploymentId: string) {
  return queryOptions({
    queryKey: ['deployment', workspaceId, deploymentId],
    queryFn: ({ signal }) => ask<Deployment>(at`/v2/deployments/${deploymentId}`, { workspaceId, signal }),
  });
}

/** Queries if a deployment is halted, by itself or with its workspace or organization. */
export function haltQuery(workspaceId: string, deploymentId: string) {
  return queryOptions({
    queryKey: ['halt', workspaceId, deploymentId],
    queryFn: ({ signal }) => ask<HaltState>(at`/v2/deployments/${deploymentId}/halt`, { workspaceId, signal }),
    staleTime: HALT_FRESH_MS,
  });
}

/** Queries the metrics of a deployment over the last hour. */
export function metricsQuery(workspaceId: string, deploymentId: string) {
  return queryOptions({
    queryKey: ['metrics', workspaceId, deploymentId],
    queryFn: ({ signal }) =>
      ask<DeploymentMetrics>(at`/v2/deployments/${deploymentId}/metrics`, {
        workspaceId,
        signal,
        query: { start_time: new Date(Date.now() - HOUR_MS).toISOString() },
      }),
    refetchInterval: METRICS_EVERY_MS,
  });
}

/** Makes a deployment. Repeated with the same key, it makes none a second time. @throws PlatformError */
export function createDeployment(workspaceId: string, body: DeploymentCreate, key: string): Promise<Deployment> {
  const headers = { 'idempotency-key': key };
  return ask<Deployment>(at`/v2/deployments`, { method: 'POST', workspaceId, body, headers });
}

/** @throws PlatformError */
export function patchDeployment(workspaceId: string, id: string, body: DeploymentPatch): Promise<Deployment> {
  return ask<Deployment>(at`/v2/deployments/${id}`, { method: 'PATCH', workspaceId, body });
}

/** Deletes a deployment with its threads, runs and all. @throws PlatformError */
export function deleteDeployment(workspaceId: string, id: string): Promise<void> {
  return ask<void>(at`/v2/deployments/${id}`, { method: 'DELETE', workspaceId });
}

/** Refuses new runs and cancels those in flight. @throws PlatformError */
export function haltDeployment(workspaceId: string, id: string, body: HaltRequest): Promise<HaltState> {
  return ask<HaltState>(at`/v2/deployments/${id}/halt`, { method: 'POST', workspaceId, body });
}

/** Ends the halt of the deployment itself. @throws PlatformError */
export function resumeDeployment(workspaceId: string, id: string): Promise<HaltState> {
  return ask<HaltState>(at`/v2/deployments/${id}/resume`, { method: 'POST', workspaceId });
}

/** Returns the addresses by which clients reach a deployment, the shortest way first. */
export function addressesOf({ host_url: host, source_config: { custom_url: url } }: Deployment): string[] {
  return [...new Set([host, url].filter((address): address is string => Boolean(address)))];
}

async function listDeployments(workspaceId: string, signal: AbortSignal): Promise<Deployment[]> {
  const all: Deployment[] = [];
  for (;;) {
    const { resources } = await ask<DeploymentList>(at`/v2/deployments`, {
      workspaceId,
      signal,
      query: { limit: PAGE, offset: all.length },
    });
    all.push(...resources);
    if (resources.length < PAGE) return all;
  }
}

/** Returns whether a deployment has something that answers. */
export function canRun({ active_revision_id: revisionId }: Deployment): boolean {
  return revisionId !== null && revisionId !== undefined;
}
