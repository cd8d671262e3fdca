import { randomUUID } from 'node:crypto';
import { AGENT_SERVER_OPERATIONS } from '@runyard/contracts';
import type { AuthEvent } from '../src/auth/auth-events.ts';

/** The things that belong to one user. */
export interface Things {
  mark: string;
  /** A thread with a run that has ended, and one with a run that waits. */
  threadId: string;
  runId: string;
  busyThreadId: string;
  pendingRunId: string;
  /** A thread without runs. */
  spareThreadId: string;
  checkpointId: string;
  assistantId: string;
  cronId: string;
  /** A task of A2A that waits for input, the thread that is its context, and where it is reported to. */
  taskId: string;
  contextId: string;
  pushConfigId: string;
}

export interface Asked {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}

export interface Answer {
  status: number;
  /** The parsed body, or its text; of a stream the first bytes. */
  body: unknown;
  headers: Headers;
}

/** A request about somebody's things, and its outcome for callers who may not see them: as for missing ones. */
export interface Row {
  ask(its: Things): Asked;
  /** The events that decide, each of which may refuse. */
  events: readonly AuthEvent[];
  hidden: { status: number; body?: unknown | ((body: unknown) => boolean) };
  /** False where the owner's answer needs a worker, or a thing that another row has taken away. */
  isAskedByOwner: boolean;
  /** False for streams that say nothing to callers who may not see them. */
  readsStreams?: boolean;
}

const MISSING = { status: 404 };
const row = (
  events: AuthEvent | readonly AuthEvent[],
  ask: Row['ask'],
  hidden: Row['hidden'] = MISSING,
  isAskedByOwner = true,
): Row => ({ events: [events].flat() as AuthEvent[], ask, hidden, isAskedByOwner });

const assistant = (its: Things) => ({ params: { assistant_id: its.assistantId } });
const thread = (its: Things) => ({ params: { thread_id: its.threadId } });
const run = (its: Things) => ({ params: { thread_id: its.threadId, run_id: its.runId } });
const pendingRun = (its: Things) => ({ params: { thread_id: its.busyThreadId, run_id: its.pendingRunId } });
const cron = (its: Things) => ({ params: { cron_id: its.cronId } });
const task = (its: Things) => ({ params: { ...AGENT, task_id: its.taskId } });
const pushConfig = (its: Things) => ({ params: { ...task(its).params, config_id: its.pushConfigId } });
export const AGENT = { assistant_id: 'echo' };
/** Returns the body of a message to an agent, whose answer is not waited for. */
export const says = (text: string, more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
  configuration: { returnImmediately: true },
});
const answersTask = (its: Things) => ({ params: AGENT, body: says('yes', { taskId: its.taskId }) });
const answersTaskInV03 = (its: Things) => ({
  params: AGENT,
  body: {
    message: { messageId: randomUUID(), role: 'ROLE_USER', taskId: its.taskId, content: [{ text: 'yes' }] },
    configuration: { blocking: false },
  },
});
const MISSING_IN_V03 = { status: 404, body: { code: -32001 } };
const READ_TASK = ['threads:read', 'assistants:read'] as const;
const UPDATE_TASK = ['threads:update', 'assistants:read'] as const;
const RUN_EVENTS = ['threads:create_run', 'assistants:read'] as const;
const CRON_EVENTS = ['crons:create', ...RUN_EVENTS] as const;
const YEARLY = { schedule: '@yearly' };
const onOwnThread = (its: Things) => ({ ...thread(its), body: { assistant_id: 'echo', input: {} } });
const withAssistant = (its: Things) => ({ body: { assistant_id: its.assistantId, input: {} } });

/**
 * The requests that are about the things of somebody, by operation. Deletions come last, so that the owner can send all
 * of them in this order.
 */
export const ROWS: Record<string, Row> = {
  getAssistant: row('assistants:read', assistant),
  getAssistantGraph: row('assistants:read', assistant),
  getAssistantSchemas: row('assistants:read', assistant),
  getAssistantSummary: row('assistants:read', assistant),
  getAssistantSubgraphs: row('assistants:read', assistant),
  getAssistantSubgraphsIn: row('assistants:read', (its) => ({
    params: { ...assistant(its).params, namespace: 'echo' },
  })),
  listAssistantVersions: row('assistants:read', (its) => ({ ...assistant(its), body: {} })),
  setLatestAssistantVersion: row('assistants:update', (its) => ({ ...assistant(its), body: { version: 1 } })),
  patchAssistant: row('assistants:update', (its) => ({ ...assistant(its), body: { metadata: { asked: true } } })),
  searchAssistants: row('assistants:search', (its) => ({ body: { name: its.mark } }), { status: 200, body: [] }),
  countAssistants: row('assistants:search', (its) => ({ body: { name: its.mark } }), { status: 200, body: 0 }),
  createAssistant: row(
    ['assistants:create', 'assistants:read'],
    (its) => ({ body: { assistant_id: its.assistantId, graph_id: 'echo', if_exists: 'do_nothing' } }),
    { status: 409 },
  ),

  createThread: row(
    ['threads:create', 'threads:read'],
    (its) => ({ body: { thread_id: its.threadId, if_exists: 'do_nothing' } }),
    { status: 409 },
  ),
  getThread: row('threads:read', thread),
  patchThread: row('threads:update', (its) => ({
    ...thread(its),
    body: { metadata: { asked: true }, ttl: { ttl: 60 } },
  })),
  searchThreads: row('threads:search', (its) => ({ body: { ids: [its.threadId] } }), { status: 200, body: [] }),
  countThreads: row('threads:search', (its) => ({ body: { metadata: { mark: its.mark } } }), { status: 200, body: 0 }),
  copyThread: row(['threads:read', 'threads:create'], thread, { status: 409 }),
  getThreadStorage: row('threads:read', thread),
  getThreadState: row('threads:read', thread),
  getThreadStateAtCheckpointId: row('threads:read', (its) => ({
    params: { thread_id: its.threadId, checkpoint_id: its.checkpointId },
  })),
  getThreadStateAtCheckpoint: row('threads:read', (its) => ({
    ...thread(its),
    body: { checkpoint: { checkpoint_id: its.checkpointId } },
  })),
  updateThreadState: row('threads:update', (its) => ({
    ...thread(its),
    body: { values: { messages: [] }, as_node: 'echo' },
  })),
  getThreadHistory: row('threads:read', thread),
  searchThreadHistory: row('threads:read', (its) => ({ ...thread(its), body: {} })),
  joinThreadStream: row('threads:read', thread),

  // Streams of a hidden thread are as empty as those of a thread that does not exist yet, until the client leaves.
  streamEvents: {
    ...row('threads:read', (its) => ({ ...thread(its), body: { channels: ['values'], since: 0 } }), { status: 200 }),
    readsStreams: false,
  },
  sendCommand: row(
    RUN_EVENTS,
    (its) => ({
      ...thread(its),
      body: { id: 1, method: 'run.start', params: { assistant_id: 'echo', input: { messages: [] } } },
    }),
    { status: 200, body: { type: 'error' } },
  ),

  createRun: row(RUN_EVENTS, onOwnThread),
  streamRun: row(RUN_EVENTS, onOwnThread),
  waitRun: row(RUN_EVENTS, onOwnThread, MISSING, false),
  createStatelessRun: row(RUN_EVENTS, withAssistant),
  createRunBatch: row(RUN_EVENTS, (its) => ({ body: [withAssistant(its).body] })),
  streamStatelessRun: row(RUN_EVENTS, withAssistant),
  waitStatelessRun: row(RUN_EVENTS, withAssistant, MISSING, false),
  listRuns: row('threads:read', thread),
  getRun: row('threads:read', run),
  getStatelessRun: row('threads:read', (its) => ({ params: { run_id: its.runId } })),
  listFeedback: row('threads:read', run),
  listWebhookDeliveries: row('threads:read', run),
  // No run of the owner has a webhook.
  redeliverWebhook: row(
    'threads:update',
    (its) => ({ params: { thread_id: its.threadId, run_id: its.runId, delivery_id: randomUUID() } }),
    MISSING,
    false,
  ),
  joinRun: row('threads:read', run),
  joinRunStream: row('threads:read', run),
  joinRunStreamAlias: row('threads:read', run),
  joinStatelessRunStream: row('threads:read', (its) => ({ params: { run_id: its.runId } })),
  cancelRun: row('threads:update', pendingRun),
  cancelRuns: row(
    'threads:update',
    (its) => ({ body: { thread_id: its.busyThreadId, run_ids: [its.pendingRunId] } }),
    MISSING,
    false,
  ),

  createCron: row(CRON_EVENTS, (its) => ({ body: { ...YEARLY, assistant_id: its.assistantId } })),
  createThreadCron: row(CRON_EVENTS, (its) => ({ ...thread(its), body: { ...YEARLY, assistant_id: 'echo' } })),
  getCron: row('crons:read', cron),
  getCronAlias: row('crons:read', cron),
  updateCron: row('crons:update', (its) => ({ ...cron(its), body: { enabled: false } })),
  updateCronAlias: row('crons:update', (its) => ({ ...cron(its), body: { enabled: false } })),
  searchCrons: row('crons:search', (its) => ({ body: { metadata: { mark: its.mark } } }), { status: 200, body: [] }),
  countCrons: row('crons:search', (its) => ({ body: { metadata: { mark: its.mark } } }), { status: 200, body: 0 }),

  getItem: row('store:get', (its) => ({ query: { namespace: its.mark, key: 'k' } }), { status: 200, body: null }),
  searchItems: row('store:search', (its) => ({ body: { namespace_prefix: [its.mark] } }), {
    status: 200,
    body: { items: [] },
  }),
  listNamespaces: row('store:list_namespaces', (its) => ({ body: { prefix: [its.mark] } }), {
    status: 200,
    body: { namespaces: [] },
  }),
  // The handler puts each into a namespace of their own: whoever writes or deletes there touches nothing of others.
  deleteItem: row('store:delete', (its) => ({ body: { namespace: [its.mark], key: 'k' } }), { status: 204 }),
  putItem: row('store:put', (its) => ({ body: { namespace: [its.mark], key: 'k', value: { by: 'whoever asks' } } }), {
    status: 204,
  }),

  getExtendedAgentCard: row('assistants:read', assistant),
  callA2a: row(
    READ_TASK,
    (its) => ({ params: AGENT, body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: its.taskId } } }),
    { status: 200, body: { error: { code: -32001 } } },
  ),
  getA2aTask: row(READ_TASK, task),
  listA2aTasks: row(
    ['threads:search', 'assistants:read'],
    (its) => ({ params: AGENT, query: { contextId: its.contextId, historyLength: '9' } }),
    { status: 200, body: { tasks: [], totalSize: 0 } },
  ),
  subscribeToA2aTask: row(READ_TASK, task),
  subscribeToA2aTaskAlias: row(READ_TASK, task),
  createA2aPushConfig: row(UPDATE_TASK, (its) => ({ ...task(its), body: { url: 'http://127.0.0.1:9/a2a' } })),
  listA2aPushConfigs: row(READ_TASK, task),
  getA2aPushConfig: row(READ_TASK, pushConfig),
  deleteA2aPushConfig: row(UPDATE_TASK, pushConfig),
  getExtendedAgentCardV03: row('assistants:read', assistant),
  getA2aTaskV03: row(READ_TASK, task, MISSING_IN_V03),
  subscribeToA2aTaskV03: row(READ_TASK, task, MISSING_IN_V03),
  subscribeToA2aTaskV03Alias: row(READ_TASK, task, MISSING_IN_V03),
  createA2aPushConfigV03: row(
    UPDATE_TASK,
    (its) => ({ ...task(its), body: { pushNotificationConfig: { url: 'http://127.0.0.1:9/a2a' } } }),
    MISSING_IN_V03,
  ),
  listA2aPushConfigsV03: row(READ_TASK, task, MISSING_IN_V03),
  getA2aPushConfigV03: row(READ_TASK, pushConfig, MISSING_IN_V03, false),
  deleteA2aPushConfigV03: row(UPDATE_TASK, pushConfig, MISSING_IN_V03),
  streamA2aMessageV03: row(RUN_EVENTS, answersTaskInV03, MISSING_IN_V03, false),
  sendA2aMessageV03: row(RUN_EVENTS, answersTaskInV03, MISSING_IN_V03, false),
  streamA2aMessage: row(RUN_EVENTS, answersTask, MISSING, false),
  sendA2aMessage: row(RUN_EVENTS, answersTask),
  cancelA2aTask: row(UPDATE_TASK, task),
  runAgUi: row(RUN_EVENTS, (its) => ({
    params: { assistant_id: 'echo' },
    body: { threadId: its.threadId, runId: String(Math.random()), messages: [] },
  })),
  joinAgUi: row(['threads:read', 'assistants:read'], (its) => ({
    params: { assistant_id: 'echo' },
    query: { threadId: its.mark, runId: its.mark },
  })),
  cancelA2aTaskV03: row(UPDATE_TASK, task, MISSING_IN_V03),

  // The other methods are in mcp-access.test.ts.
  callMcp: row(
    ['assistants:search', 'assistants:read'],
    ({ mark }) => ({ body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: mark, task: {} } } }),
    { status: 200, body: { error: { code: -32602 } } },
    false,
  ),

  deleteCron: row('crons:delete', cron),
  deleteCronAlias: row('crons:delete', cron, MISSING, false),
  deleteRun: row('threads:delete', run),
  pruneThreads: row('threads:delete', (its) => ({ body: { thread_ids: [its.spareThreadId] } }), {
    status: 200,
    body: { pruned_count: 0 },
  }),
  deleteThread: row('threads:delete', (its) => ({ params: { thread_id: its.busyThreadId } })),
  deleteAssistant: row('assistants:delete', assistant),
};

/** Operations of the deployment, which belong to nobody in it, and those for bearers of a signed URL. */
export const UNSCOPED = [
  ...['getInfo', 'getHealth', 'getRoot', 'getMetrics', 'getOpenApi', 'getDocs', 'getUi', 'getUiFile'],
  ...['giveFeedback', 'giveFeedbackByLink', 'getCardKeys'],
  ...['getAgentCard', 'getAssistantCard', 'getPinnedAssistantCard'],
];

/** Sends the request of a row, as the contract of its operation says. */
export async function askOperation(
  url: string,
  operationId: string,
  { params = {}, query = {}, body }: Asked,
  headers: Record<string, string>,
  { readsStreams = true } = {},
): Promise<Answer> {
  const operation = AGENT_SERVER_OPERATIONS.find((each) => each.operationId === operationId)!;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? 'none'));
  const search = new URLSearchParams(query).toString();
  const response = await fetch(url + path + (search && `?${search}`), {
    method: operation.method.toUpperCase(),
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await bodyOf(response, readsStreams), headers: response.headers };
}

async function bodyOf(response: Response, readsStreams: boolean): Promise<unknown> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    if (readsStreams) return firstEvent(response);
    await response.body?.cancel();
    return '';
  }
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the beginning of a stream, which may have no end while nothing runs. */
async function firstEvent(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return value ? Buffer.from(value).toString('utf8') : '';
}
