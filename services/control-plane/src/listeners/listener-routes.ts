import {
  BUILD_CONTENT_TYPE,
  checkListenerCaller,
  createListener,
  createListenerKey,
  createPullToken,
  deleteListener,
  deleteListenerKey,
  fetchBuild,
  getListener,
  getListenerDesiredState,
  getListenerKeySet,
  listListenerKeys,
  listListeners,
  patchListener,
  readSecretsOfWorkspace,
  releaseListenerLease,
  reportDeploymentBudgets,
  reportDeploymentHalt,
  reportDeploymentMetrics,
  reportDeploymentRoute,
  reportDeploymentStatus,
  reportProcessCounts,
  reportRevisionLogs,
  reportRevisionStatus,
  storeDatabasePassword,
  takeListenerLease,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import {
  type BoundOperation,
  bind,
  created,
  excludeFromInFlight,
  noContent,
  ok,
  sendStream,
} from '@runyard/service-kit';
import type { CallerCheck } from './caller-check.ts';
import type { DataPlaneService } from './data-plane-service.ts';
import type { ListenerKeys } from './listener-keys.ts';
import type { ListenerService } from './listener-service.ts';
import type { PullTokenIssuer } from './pull-token-issuer.ts';
import type { ReportedLogs } from './reported-logs.ts';
import type { Speakers } from './speakers.ts';

/** Answers with secrets must not be cached. */
const NO_STORE = { 'cache-control': 'no-store' };

export interface ListenerServices {
  speakers: Speakers;
  listeners: ListenerService;
  listenerKeys: ListenerKeys;
  dataPlanes: DataPlaneService;
  callers: CallerCheck;
  logs: ReportedLogs;
  pullTokens: PullTokenIssuer;
}

export function listenerRoutes(
  { listeners, listenerKeys, speakers, dataPlanes, callers, logs, pullTokens }: ListenerServices,
  keys: IdempotencyKeys,
): BoundOperation[] {
  return [
    bind(listListeners, async ({ caller, query }) => ok(await listeners.list(caller, query))),
    bindCreation(keys, createListener, created, ({ caller, body }, keyed) => listeners.create(caller, body, keyed)),
    bind(getListener, async ({ caller, params }) => ok(await listeners.get(caller, idOf(params)))),
    bind(patchListener, async ({ caller, params, body }) => ok(await listeners.patch(caller, idOf(params), body))),
    bind(deleteListener, async ({ caller, params }) => {
      await listeners.delete(caller, idOf(params));
      return noContent();
    }),
    bind(createListenerKey, async ({ caller, params, body }) =>
      created(await listenerKeys.create(caller, idOf(params), body ?? {}), NO_STORE),
    ),
    bind(listListenerKeys, async ({ caller, params }) =>
      ok({ resources: await listenerKeys.list(caller, idOf(params)) }),
    ),
    bind(deleteListenerKey, async ({ caller, params }) => {
      await listenerKeys.revoke(caller, { listenerId: idOf(params), keyId: params.key_id.toLowerCase() });
      return noContent();
    }),
    bind(takeListenerLease, async ({ caller, params, body }) =>
      ok(await speakers.of(caller, idOf(params)).take(body), NO_STORE),
    ),
    bind(releaseListenerLease, async ({ caller, params, query }) => {
      await speakers.of(caller, idOf(params)).release(query.epoch);
      return noContent();
    }),
    bind(getListenerDesiredState, async ({ caller, params, query, signal, res }) => {
      // A request that waits for changes takes no room from requests that do work.
      excludeFromInFlight(res);
      const { epoch, since, wait_seconds: seconds } = query;
      const request = { epoch, since, waitMs: seconds * 1000 };
      const state = await dataPlanes.desiredState(speakers.of(caller, idOf(params)), request, signal);
      return state ? ok(state, NO_STORE) : noContent();
    }),
    bind(createPullToken, async ({ caller, params, body }) =>
      ok(await pullTokens.issue(speakers.of(caller, idOf(params)), deploymentOf(params), body), NO_STORE),
    ),
    bind(fetchBuild, async ({ caller, params, query, signal, res }) => {
      const speaker = speakers.of(caller, idOf(params));
      const archive = await dataPlanes.openBuild(speaker, params.revision_id.toLowerCase(), query.epoch, signal);
      await sendStream(archive, res.type(BUILD_CONTENT_TYPE));
    }),
    bind(reportRevisionStatus, async ({ caller, params, body }) =>
      ok(
        await dataPlanes.reportRevision(speakers.of(caller, idOf(params)), {
          ...body,
          revision_id: body.revision_id.toLowerCase(),
        }),
      ),
    ),
    bind(reportDeploymentStatus, async ({ caller, params, body }) => {
      await dataPlanes.reportDeployment(speakers.of(caller, idOf(params)), deploymentOf(params), body);
      return noContent();
    }),
    bind(reportDeploymentRoute, async ({ caller, params, body }) => {
      await dataPlanes.reportRoute(speakers.of(caller, idOf(params)), deploymentOf(params), body);
      return noContent();
    }),
    bind(reportDeploymentHalt, async ({ caller, params, body }) => {
      await dataPlanes.reportHalt(speakers.of(caller, idOf(params)), deploymentOf(params), body);
      return noContent();
    }),
    bind(reportDeploymentBudgets, async ({ caller, params, body }) => {
      await dataPlanes.reportBudgets(speakers.of(caller, idOf(params)), deploymentOf(params), body);
      return noContent();
    }),
    bind(reportDeploymentMetrics, async ({ caller, params, body }) => {
      await dataPlanes.reportMetrics(speakers.of(caller, idOf(params)), body);
      return noContent();
    }),
    bind(reportProcessCounts, async ({ caller, params, body }) => {
      await dataPlanes.reportProcessCounts(speakers.of(caller, idOf(params)), deploymentOf(params), body);
      return noContent();
    }),
    bind(reportRevisionLogs, async ({ caller, params, body }) =>
      ok(await logs.report(speakers.of(caller, idOf(params)), body)),
    ),
    bind(storeDatabasePassword, async ({ caller, params, body }) =>
      ok(await dataPlanes.storePassword(speakers.of(caller, idOf(params)), deploymentOf(params), body), NO_STORE),
    ),
    bind(readSecretsOfWorkspace, async ({ caller, params, body }) =>
      ok(await dataPlanes.workspaceSecrets(speakers.of(caller, idOf(params)), body), NO_STORE),
    ),
    bind(checkListenerCaller, async ({ caller, params, body }) =>
      ok(await callers.verify(speakers.of(caller, idOf(params)), body), NO_STORE),
    ),
    bind(getListenerKeySet, async ({ caller, params }) => ok(await callers.keySet(speakers.of(caller, idOf(params))))),
  ];
}

const idOf = (params: { listener_id: string }) => params.listener_id.toLowerCase();
const deploymentOf = (params: { deployment_id: string }) => params.deployment_id.toLowerCase();
