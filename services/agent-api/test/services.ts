import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { PostgresCheckpoints, PostgresStore } from '@runyard/checkpointer';
import { WORKSPACE_PERMISSIONS } from '@runyard/contracts';
import { openPool } from '@runyard/database';
import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import type { GraphHost } from '@runyard/host-client';
import { IdempotencyKeys } from '@runyard/idempotency';
import { RunEngine, type WebhookDelivery } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import { ANONYMOUS, ByteBudget, INTERNAL, silentLogger } from '@runyard/service-kit';
import { createTestDatabase } from '@runyard/test-kit';
import { TRACING_OFF } from '@runyard/tracing';
import { MessageSender } from '../src/a2a/tasks/message-sender.ts';
import { TaskReader } from '../src/a2a/tasks/task-reader.ts';
import { TaskStore } from '../src/a2a/tasks/task-store.ts';
import { type Scope, UNRESTRICTED } from '../src/access/scope.ts';
import { AgUiRuns } from '../src/ag-ui/ag-ui-runs.ts';
import { AssistantGraphService } from '../src/assistants/assistant-graph-service.ts';
import { AssistantIds, systemAssistantId } from '../src/assistants/assistant-ids.ts';
import { AssistantLookup } from '../src/assistants/assistant-lookup.ts';
import { AssistantRemoval } from '../src/assistants/assistant-removal.ts';
import { AssistantService } from '../src/assistants/assistant-service.ts';
import { AssistantStore } from '../src/assistants/assistant-store.ts';
import { AssistantVersionStore } from '../src/assistants/assistant-version-store.ts';
import { AssistantVisibility } from '../src/assistants/assistant-visibility.ts';
import { InputKeys } from '../src/assistants/input-keys.ts';
import { ensureSystemAssistants } from '../src/assistants/system-assistants.ts';
import { runCreatorOf } from '../src/auth/user-caller.ts';
import { openPrisma } from '../src/connections/prisma.ts';
import { CronService } from '../src/crons/cron-service.ts';
import { CronStore } from '../src/crons/cron-store.ts';
import { ProtocolCommands } from '../src/event-protocol/protocol-commands.ts';
import { FeedbackTokens } from '../src/feedback/feedback-tokens.ts';
import { ListRoom } from '../src/http/list-room.ts';
import { RunAnswers } from '../src/runs/run-answers.ts';
import { RunResults } from '../src/runs/run-results.ts';
import { RunService } from '../src/runs/run-service.ts';
import { StoreService } from '../src/store/store-service.ts';
import { MissingEnds } from '../src/streams/missing-ends.ts';
import { OpenResponses } from '../src/streams/open-responses.ts';
import { RunWatch } from '../src/streams/run-watch.ts';
import { StateService } from '../src/threads/state-service.ts';
import { ThreadRetention } from '../src/threads/thread-retention.ts';
import { ThreadService } from '../src/threads/thread-service.ts';
import { ThreadStore } from '../src/threads/thread-store.ts';
import { WebhookLog } from '../src/webhooks/webhook-log.ts';

/** The creator of runs in tests that do not look at it. */
export const NOBODY = runCreatorOf(INTERNAL);

const MIGRATIONS = fileURLToPath(new URL('../../../packages/run-engine/prisma/migrations', import.meta.url));

/** A graph that has been run once, and whose state is empty. */
const CHECKPOINT = { thread_id: 't', checkpoint_ns: '', checkpoint_id: '1efb0000-0000-6000-8000-000000000001' };
const STATE = {
  values: {},
  next: [],
  tasks: [],
  metadata: null,
  created_at: '2026-11-20T20:18:31.041459+00:00',
  checkpoint: CHECKPOINT,
  parent_checkpoint: null,
  interrupts: [],
  checkpoint_id: CHECKPOINT.checkpoint_id,
  parent_checkpoint_id: null,
};
/** Stands in the log of webhooks of every run. */
export const DELIVERY: WebhookDelivery = {
  deliveryId: randomUUID(),
  url: 'https://hooks.example.com/runs',
  status: 'failed',
  attempts: [],
  dueAt: null,
  createdAt: new Date(),
  endedAt: new Date(),
  hasContent: true,
};
const host = {
  getState: async () => STATE,
  getHistory: async () => [STATE],
  updateState: async () => ({ checkpoint: CHECKPOINT, configurable: CHECKPOINT, checkpoint_id: 'c' }),
  getInputKeys: async () => null,
  getTools: async () => [],
  getSchemas: async () => ({}),
} as unknown as GraphHost;

/** Discards the events of runs; a test that reads them has gone too far. */
const streams = {
  append: async () => [],
  publishCancel: async () => undefined,
  newestId: async () => '7-0',
  async *read() {},
} as unknown as RunStreams;

/** The signal of lists that no client gets: nothing holds them back, and nothing has to be given back. */
export const NEVER = new AbortController().signal;

/**
 * Opens the services of the operations, in this process and on a database of its own: without HTTP, graphs and streams.
 */
export async function openServices(cipher: DataCipher = NO_ENCRYPTION) {
  const database = await createTestDatabase(MIGRATIONS);
  const pool = openPool({ connectionString: database.url, max: 4, applicationName: 'agent-api-test' });
  const prisma = openPrisma(pool);
  // Nobody renews the lease, and a test on a busy machine may take long.
  const engine = new RunEngine({ pool, deploymentId: 'test', source: '/test', leaseMs: 120_000, cipher });
  const checkpoints = new PostgresCheckpoints({ pool, cipher });
  const keys = new IdempotencyKeys({ pool, cipher: cipher, keptHours: 1 });
  const store = new PostgresStore({ pool, cipher }).open();

  const results = new RunResults({ engine, maxBytes: 1024 * 1024 });
  const listRoom = new ListRoom(results.budget);
  const threadStore = new ThreadStore(prisma, cipher, listRoom);
  const state = new StateService({
    threads: threadStore,
    engine,
    host,
    backends: () => ({ checkpoints: checkpoints.readOnly(), store }),
    configurationOf: async () => undefined,
    checkpoints,
    keys,
    onUpdated: async () => undefined,
  });
  const onDeleted = () => undefined;
  const threads = new ThreadService({
    store: threadStore,
    engine,
    state,
    keys,
    onDeleted,
    onRunsDeleted: async () => undefined,
  });

  const ids = new AssistantIds(['echo']);
  const visibility = new AssistantVisibility(ids.graphIds);
  const assistantStore = new AssistantStore(prisma, visibility, cipher, listRoom);
  const versions = new AssistantVersionStore(prisma, visibility, cipher, listRoom);
  await ensureSystemAssistants(
    { store: assistantStore, versions },
    [{ graphId: 'echo', file: '/project/echo.ts', symbol: 'graph' }],
    {},
  );
  const removal = new AssistantRemoval({
    store: assistantStore,
    deleteThreads: (scope, assistantId) => threads.deleteMatching(scope, { assistant_id: assistantId }),
    cancelRuns: (assistantId, reason) => runs.cancel(UNRESTRICTED, { assistantId }, 'interrupt', reason),
  });
  const assistants = new AssistantService({ ids, store: assistantStore, versions, removal });
  const lookup = new AssistantLookup(pool, ids, cipher);

  const webhooks = { accept: async () => [] };
  const runs = new RunService({
    engine,
    streams,
    wakeups: { wake: () => undefined, wakeAfter: () => undefined },
    assistants: lookup,
    webhooks,
    threads: threadStore,
    listRoom,
    onDeleted,
    hasUsers: true,
    tracing: TRACING_OFF,
    logger: silentLogger,
  });
  const graphs = new AssistantGraphService({
    assistants,
    host: { requireRunning: async () => host },
    sourceTimeoutMs: 1_000,
  });
  const tasks = new TaskStore(pool);
  const taskReader = new TaskReader({ tasks, engine, threads: threadStore, budget: new ByteBudget(2 ** 20) });
  const messages = new MessageSender({
    runs,
    tasks,
    reader: taskReader,
    threads: threadStore,
    keys,
    inputKeys: new InputKeys(graphs),
    acceptPush: async () => {
      throw new Error('no push notifications here');
    },
  });
  const watch = new RunWatch({ findInFlight: (runIds) => engine.runsInFlight(runIds), onError: () => undefined });
  const ends = new MissingEnds({ engine, streams, logger: silentLogger });
  const workerId = randomUUID();
  await engine.registerWorker({ workerId, revisionId: 'any', slots: 100 });
  return {
    engine,
    pool,
    threadStore,
    threads,
    state,
    retention: new ThreadRetention({ store: threadStore, engine, keys, state, onDeleted }),
    assistants,
    graphs,
    tasks,
    taskReader,
    messages,
    runs,
    /** Runs of clients of AG-UI whose threads are these. */
    agUiWithin: (scope: Scope) =>
      new AgUiRuns({
        assistants,
        inputKeys: new InputKeys(graphs),
        threads: threadStore,
        runs,
        keys,
        budget: new ByteBudget(2 ** 20),
        configurableHeaders: () => ({}),
        authorizer: { authorize: async (_caller, _event, value) => ({ scope, value }) },
      }),
    answers: new RunAnswers(
      runs,
      { engine, streams, watch, ends, open: new OpenResponses(), results },
      new FeedbackTokens({ signingKey: Buffer.alloc(32), ttlSeconds: 1 }),
    ),
    commands: new ProtocolCommands({ runs, engine, threads: threadStore, states: state, streams }),
    caller: { ...ANONYMOUS, permissions: WORKSPACE_PERMISSIONS },
    webhookLog: new WebhookLog({
      queue: { listOfRun: async () => [DELIVERY], redeliver: async () => undefined },
      targets: { refusalOf: async () => undefined },
      requireRun: (scope, threadId, runId) => runs.find(scope, threadId, runId),
      onQueued: () => undefined,
    }),
    crons: new CronService({
      store: new CronStore(prisma, cipher, listRoom),
      assistants: lookup,
      threads: threadStore,
      webhooks,
      onScheduled: () => undefined,
    }),
    items: new StoreService(store, listRoom),
    echo: systemAssistantId('echo'),
    /** Ends every pending run, with these values. */
    async endRuns(values: unknown): Promise<void> {
      const text = Buffer.from(JSON.stringify(values));
      for (const { fence, runId } of await engine.claimRuns(workerId, 100)) {
        const end = { status: 'success', threadStatus: 'idle', error: null, interrupts: null } as const;
        await engine.finishRun({ fence, runId, ...end, values: text, checkpointId: CHECKPOINT.checkpoint_id });
      }
    },
    /** Ends every pending run at an interrupt. */
    async askInRuns(interrupt: { id: string; value: unknown }): Promise<void> {
      const values = Buffer.from(JSON.stringify({ __interrupt__: [interrupt] }));
      const interrupts = Buffer.from(JSON.stringify({ task: [interrupt] }));
      for (const { fence, runId } of await engine.claimRuns(workerId, 100)) {
        const end = { status: 'success', threadStatus: 'interrupted', error: null, checkpointId: null } as const;
        await engine.finishRun({ fence, runId, ...end, values, interrupts });
      }
    },
    async close(): Promise<void> {
      watch.close();
      await Promise.all([engine.close(), checkpoints.close(), lookup.close()]);
      await pool.end();
      await database.close();
    },
  };
}

export type TestServices = Awaited<ReturnType<typeof openServices>>;
