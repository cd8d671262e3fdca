import type {
  Deployment,
  Revision,
  RevisionList,
  RevisionStatus,
  RunFacets,
  RunFacetsRequest,
} from '@runyard/contracts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';

const PAGE = 50;
const WATCHED_EVERY_MS = 1_000;

/** A revision never leaves these. The list is that of the contracts, whose values are no part of the pages. */
const FINAL: ReadonlySet<RevisionStatus> = new Set<RevisionStatus>([
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
]);

/** Returns whether a revision may still change its status. */
export function isUnderWay({ status }: Pick<Revision, 'status'>): boolean {
  return !FINAL.has(status);
}

/** Returns whether a revision is the one that serves. */
export function isActive(deployment: Deployment, { id, status }: Pick<Revision, 'id' | 'status'>): boolean {
  return status === 'DEPLOYED' && deployment.active_revision_id === id;
}

/** The revisions of a deployment, newest first, by page. */
export function revisionsQuery(workspaceId: string, deploymentId: string) {
  return infiniteQueryOptions({
    queryKey: ['revisions', workspaceId, deploymentId],
    queryFn: ({ signal, pageParam }) =>
      ask<RevisionList>(at`/v2/deployments/${deploymentId}/revisions`, {
        workspaceId,
        signal,
        query: { limit: PAGE, offset: pageParam },
      }),
    initialPageParam: 0,
    getNextPageParam: ({ resources, offset }) => (resources.length < PAGE ? undefined : offset),
  });
}

/** One revision, asked for again for as long as its status may change. */
export function revisionQuery(workspaceId: string, deploymentId: string, revisionId: string) {
  return queryOptions({
    queryKey: ['revision', workspaceId, deploymentId, revisionId],
    queryFn: ({ signal }) =>
      ask<Revision>(at`/v2/deployments/${deploymentId}/revisions/${revisionId}`, { workspaceId, signal }),
    refetchInterval: ({ state: { data } }) => (data && isUnderWay(data) ? WATCHED_EVERY_MS : false),
  });
}

/** Makes a new revision with the configuration of an earlier one. @throws PlatformError */
export function redeployRevision(workspaceId: string, deploymentId: string, revisionId: string): Promise<Deployment> {
  const path = at`/v2/deployments/${deploymentId}/revisions/${revisionId}/redeploy`;
  return ask<Deployment>(path, { method: 'POST', workspaceId });
}

/** Ends a revision that is not deployed yet. @throws PlatformError */
export function interruptRevision(workspaceId: string, deploymentId: string, revisionId: string): Promise<Revision> {
  const path = at`/v2/deployments/${deploymentId}/revisions/${revisionId}/interrupt`;
  return ask<Revision>(path, { method: 'POST', workspaceId });
}

/** The runs that a revision executed, by how they are. */
export interface RevisionRuns {
  revisionId: string;
  all: number;
  running: number;
  failed: number;
}

/** The runs of a deployment by the revision that executed them, those with most first. */
export function runsByRevisionQuery(workspaceId: string, deploymentId: string) {
  return queryOptions({
    queryKey: ['runs-by-revision', workspaceId, deploymentId],
    queryFn: async ({ signal }) => {
      const count = (statuses?: RunFacetsRequest['statuses']) =>
        ask<RunFacets>(at`/v2/runs/facets`, {
          method: 'POST',
          workspaceId,
          signal,
          body: { deployment_ids: [deploymentId], ...(statuses && { statuses }) } satisfies RunFacetsRequest,
        });
      const [all, running, failed] = await Promise.all([count(), count(['running']), count(['error', 'timeout'])]);
      return { counted: all.runs, isComplete: all.is_complete, revisions: joinRuns(all, running, failed) };
    },
  });
}

function joinRuns(all: RunFacets, running: RunFacets, failed: RunFacets): RevisionRuns[] {
  const counts = (facets: RunFacets) => new Map(facets.facets.revision_id.map(({ value, runs }) => [value, runs]));
  const [runningOf, failedOf] = [counts(running), counts(failed)];
  return all.facets.revision_id.map(({ value: revisionId, runs }) => ({
    revisionId,
    all: runs,
    running: runningOf.get(revisionId) ?? 0,
    failed: failedOf.get(revisionId) ?? 0,
  }));
}
