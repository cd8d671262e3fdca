import type { PostgresCheckpoints, StoreBackend } from '@runyard/checkpointer';
import { underCurrentLimits } from '@runyard/database';
import type { DataCipher } from '@runyard/encryption';
import type { IdempotencyKeys } from '@runyard/idempotency';
import type { LeasedTask } from '@runyard/leases';
import type { ThreadRetentionSettings } from '@runyard/project';
import type { RunEngine } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import type { AssistantLookup } from '../assistants/assistant-lookup.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { PrismaClient } from '../connections/prisma.ts';
import type { ListRoom } from '../http/list-room.ts';
import type { SweepMetrics } from '../meta/sweep-metrics.ts';
import type { ProjectHost } from '../project/project-host.ts';
import { notifyDeleted } from '../streams/notify-ended.ts';
import type { Readers } from '../streams/open-readers.ts';
import { publishStateUpdate } from '../streams/publish-state-update.ts';
import { createDeletionHandler } from './deletion-handler.ts';
import { LastConfiguration } from './last-configuration.ts';
import { retentionRoutes } from './retention-routes.ts';
import { stateRoutes } from './state-routes.ts';
import { StateService } from './state-service.ts';
import { ThreadRetention } from './thread-retention.ts';
import { threadRoutes } from './thread-routes.ts';
import { ThreadService } from './thread-service.ts';
import { ThreadStore } from './thread-store.ts';
import { threadStreamRoutes } from './thread-stream-routes.ts';
import { createThreadSweeper } from './thread-sweeper.ts';

export interface ThreadParts {
  prisma: PrismaClient;
  pool: pg.Pool;
  cipher: DataCipher;
  listRoom: ListRoom;
  engine: RunEngine;
  checkpoints: PostgresCheckpoints;
  /** The long-term store, for graphs whose state is read or updated. */
  store: StoreBackend;
  host: ProjectHost;
  /** A function, because assistants are opened after the threads, whose removal they need. */
  assistants: () => AssistantLookup;
  streams: RunStreams;
  readers: Readers;
  retention: ThreadRetentionSettings;
  /** LANGGRAPH_THREAD_HISTORY_MAX_STATE_BYTES; 0 for any number. */
  historyMaxBytes: number;
  keys: IdempotencyKeys;
  guard: RouteGuard;
  sweeps: SweepMetrics;
  logger: Logger;
}

export interface Threads {
  store: ThreadStore;
  service: ThreadService;
  state: StateService;
  sweeper: LeasedTask;
  routes: GuardedOperation[];
}

/** Opens threads and their state: the services that callers use, and the sweep of expired threads. */
export function openThreads(parts: ThreadParts): Threads {
  const { pool, engine, checkpoints, host, streams, readers, retention, keys, guard, logger } = parts;
  const store = new ThreadStore(parts.prisma, parts.cipher, parts.listRoom);
  const configuration = new LastConfiguration({ host, checkpoints, engine, assistants: parts.assistants });
  const state = new StateService({
    threads: store,
    engine,
    host,
    // The graph reads from another process.
    backends: (fence, mark) => ({
      checkpoints: underCurrentLimits(fence ? checkpoints.forRun(fence, mark) : checkpoints.readOnly()),
      store: underCurrentLimits(parts.store),
    }),
    configurationOf: (threadId, graphId) => configuration.of(threadId, graphId),
    checkpoints,
    keys,
    onUpdated: (fence, state) =>
      publishStateUpdate({ streams, currentEpoch: (id) => engine.currentEpoch(id) }, { fence, state }, logger),
    historyMaxBytes: parts.historyMaxBytes || undefined,
  });
  const onDeleted = createDeletionHandler({ streams, wakeWaiting: () => readers.wake(), logger });
  const service = new ThreadService({
    store,
    engine,
    state,
    keys,
    onDeleted,
    onRunsDeleted: (runs) => notifyDeleted({ engine, streams, logger }, runs),
    defaultTtl: retention.defaultTtl,
  });
  return {
    store,
    service,
    state,
    sweeper: createThreadSweeper({ engine, pool, settings: retention, onDeleted, metrics: parts.sweeps, logger }),
    routes: [
      ...threadRoutes(service, keys, guard),
      ...retentionRoutes(new ThreadRetention({ store, engine, state, keys, onDeleted }), keys, guard),
      ...stateRoutes(state, keys, guard),
      ...threadStreamRoutes(store, { streams, ...readers }, guard),
    ],
  };
}
