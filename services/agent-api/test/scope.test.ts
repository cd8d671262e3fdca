import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BackendError } from '@runyard/checkpointer';
import { AGENT_SERVER_OPERATIONS, type AgUiInput, HANDOFF_HEADER } from '@runyard/contracts';
import { AppError, INTERNAL, silentLogger } from '@runyard/service-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { A2aError } from '../src/a2a/protocol/a2a-error.ts';
import { readSendRequest } from '../src/a2a/tasks/send-request.ts';
import { type Scope, UNRESTRICTED } from '../src/access/scope.ts';
import type { AgUiCall } from '../src/ag-ui/ag-ui-runs.ts';
import type { CronOrigin } from '../src/crons/cron-service.ts';
import type { RunOrigin } from '../src/runs/accepted-run.ts';
import { ThreadAccess } from '../src/threads/thread-access.ts';
import { DELIVERY, NEVER, NOBODY, openServices, type TestServices } from './services.ts';

const ADA = [{ owner: 'ada' }];
const BOB = [{ owner: 'bob' }];
const on = (scope: Scope, threadId?: string): RunOrigin & CronOrigin => ({
  cronScope: scope,
  scope,
  assistantScope: scope,
  creator: NOBODY,
  userId: '',
  requestId: '',
  ...(threadId !== undefined && { threadId }),
});
const YEARLY = { schedule: '@yearly' };

/** The things that belong to Ada. */
interface Things {
  mark: string;
  threadId: string;
  runId: string;
  assistantId: string;
  cronId: string;
  /** A task that waits for input. */
  taskId: string;
}

let services: TestServices;
let things: Things;
beforeAll(async () => {
  services = await openServices();
});
afterAll(() => services?.close());
beforeEach(async () => {
  const { threads, runs, assistants, crons, items } = services;
  const mark = randomUUID();
  const { thread_id: threadId } = await threads.create(ADA, { graph_id: 'echo', metadata: { mark } });
  const { runId } = await runs.create(on(ADA, threadId), { assistant_id: 'echo' });
  await services.endRuns({ said: mark });
  const { assistant_id: assistantId } = await assistants.create(ADA, { graph_id: 'echo', name: mark });
  const { cron_id: cronId } = await crons.create(on(ADA), {
    assistant_id: 'echo',
    ...YEARLY,
    metadata: { mark },
  });
  await items.put(ADA, { namespace: [mark], key: 'k', value: { owner: 'ada' } });
  const taskId = await askForInput(threadId);
  things = { mark, threadId, runId, assistantId, cronId, taskId };
});

/** Every command, for a thread that may be there. */
const COMMANDS = [
  { method: 'run.start', params: { assistant_id: 'echo' } },
  { method: 'input.respond', params: { interrupt_id: 'i', response: 1 } },
  { method: 'state.fork', params: { checkpoint_id: 'c' } },
  { method: 'state.get' },
  { method: 'state.listCheckpoints' },
  { method: 'agent.getTree' },
];

/** Makes a task of Ada's that waits for input. */
async function askForInput(contextId: string): Promise<string> {
  const { taskId } = await sendWithin(ADA, { contextId });
  await services.askInRuns({ id: 'i', value: 'Really?' });
  return taskId;
}

async function sendWithin(scope: Scope, more: object) {
  const assistant = await services.assistants.find(scope, 'echo');
  const request = readSendRequest({ message: { messageId: 'm', role: 'user', parts: [{ text: 'hi' }], ...more } });
  const plan = await services.messages.plan(assistant, request);
  return services.messages.send({ origin: on(scope), version: '1.0' }, assistant, plan);
}

type Act = (scope: Scope, its: Things) => Promise<unknown>;

/** Operations, their calls, and the outcome for a caller who may not see their object. */
const CASES: [operations: string[], act: Act, hidden: unknown][] = [
  [['getAssistant'], (scope, { assistantId }) => services.assistants.get(scope, assistantId), 404],
  [
    ['getAssistantGraph', 'getAssistantSchemas', 'getAssistantSubgraphs', 'getAssistantSubgraphsIn'],
    (scope, { assistantId }) => services.graphs.schemas({ scope, headers: {} }, assistantId),
    404,
  ],
  [
    ['getAssistantSummary'],
    (scope, { assistantId }) => services.graphs.summary({ scope, headers: {} }, assistantId),
    404,
  ],
  [
    ['listAssistantVersions'],
    (scope, { assistantId }) => services.assistants.listVersions(scope, assistantId, {}, NEVER),
    404,
  ],
  [
    ['setLatestAssistantVersion'],
    (scope, { assistantId }) => services.assistants.setLatest(scope, assistantId, 1),
    404,
  ],
  [['patchAssistant'], (scope, { assistantId }) => services.assistants.patch(scope, assistantId, { name: 'x' }), 404],
  [
    ['searchAssistants'],
    async (scope, { mark: name }) => (await services.assistants.search(scope, { name }, NEVER)).rows,
    [],
  ],
  [['countAssistants'], (scope, { mark: name }) => services.assistants.count(scope, { name }), 0],
  [
    ['createAssistant'],
    (scope, { assistantId: assistant_id }) =>
      services.assistants.create(scope, { assistant_id, graph_id: 'echo', if_exists: 'do_nothing' }),
    409,
  ],
  [
    ['createStatelessRun', 'createRunBatch', 'streamStatelessRun', 'waitStatelessRun'],
    (scope, { assistantId }) => services.runs.create(on(scope), { assistant_id: assistantId }),
    404,
  ],
  [
    ['deleteAssistant'],
    async (scope, { assistantId }) => {
      await services.assistants.delete(scope, assistantId);
      return 'deleted';
    },
    404,
  ],

  [
    ['createThread'],
    (scope, { threadId }) => services.threads.create(scope, { thread_id: threadId, if_exists: 'do_nothing' }),
    409,
  ],
  [['getThread'], (scope, { threadId }) => services.threads.get(scope, threadId), 404],
  [
    ['patchThread'],
    async (scope, { threadId }) => {
      await services.threads.patch(scope, threadId, { metadata: { a: 1 } });
      return 'changed';
    },
    404,
  ],
  [
    ['searchThreads'],
    async (scope, { threadId }) => (await services.threads.search(scope, { ids: [threadId] }, NEVER)).rows,
    [],
  ],
  [['countThreads'], (scope, { mark }) => services.threads.count(scope, { metadata: { mark } }), 0],
  [['copyThread'], (scope, { threadId }) => services.retention.copy({ source: scope, copy: scope }, threadId), 409],
  [['pruneThreads'], (scope, { threadId }) => services.retention.prune(scope, { thread_ids: [threadId] }), 0],
  [['getThreadStorage'], (scope, { threadId }) => services.retention.storage(scope, threadId), 404],
  [
    ['getThreadState', 'getThreadStateAtCheckpointId', 'getThreadStateAtCheckpoint'],
    (scope, { threadId }) => services.state.get(scope, threadId, {}),
    404,
  ],
  [['updateThreadState'], (scope, { threadId }) => services.state.update(scope, threadId, { values: {} }), 404],
  [
    ['getThreadHistory', 'searchThreadHistory'],
    (scope, { threadId }) => services.state.history(scope, threadId, { limit: 1 }),
    404,
  ],
  [['joinThreadStream'], (scope, { threadId }) => services.threadStore.findWithoutState(scope, threadId), undefined],
  [
    ['streamEvents'],
    (scope, { threadId, runId }) =>
      new ThreadAccess(services.threadStore, scope, threadId).admits(
        { kind: 'metadata', runId },
        new AbortController().signal,
      ),
    false,
  ],
  [
    ['sendCommand'],
    async (scope, { threadId }) => {
      const { caller } = services;
      const context = { threadId, scope, caller, origin: on(scope, threadId) };
      const answers = COMMANDS.map((command) => services.commands.execute(context, { id: 1, ...command }));
      return (await Promise.all(answers)).map(
        (answer) => answer.type === 'error' && `${answer.error} after ${answer.meta?.applied_through_seq}`,
      );
    },
    ['invalid_argument after 0', ...Array(5).fill('no_such_run after 0')],
  ],
  [
    ['deleteThread'],
    async (scope, { threadId }) => {
      await services.threads.delete(scope, threadId);
      return 'deleted';
    },
    404,
  ],

  [
    ['createRun', 'streamRun', 'waitRun'],
    (scope, { threadId }) => services.runs.create(on(scope, threadId), { assistant_id: 'echo' }),
    404,
  ],
  [
    ['createRun', 'streamRun', 'waitRun'],
    (scope, { threadId }) =>
      services.runs.create(on(scope, threadId), { assistant_id: 'echo', if_not_exists: 'create' }),
    404,
  ],
  [['listRuns'], (scope, { threadId }) => services.runs.list(scope, threadId, {}, NEVER), 404],
  [['getRun', 'listFeedback'], (scope, { threadId, runId }) => services.runs.find(scope, threadId, runId), 404],
  [['getStatelessRun'], (scope, { runId }) => services.runs.findById(scope, runId), 404],
  [
    ['listWebhookDeliveries'],
    async (scope, { threadId, runId }) => {
      await services.webhookLog.ofRun(scope, threadId, runId);
      return 'told';
    },
    404,
  ],
  [
    ['redeliverWebhook'],
    async (scope, { threadId, runId }) => {
      await services.webhookLog.redeliver(scope, { threadId, runId, deliveryId: DELIVERY.deliveryId });
      return 'sent';
    },
    404,
  ],
  [
    ['deleteRun'],
    async (scope, { threadId, runId }) => {
      await services.runs.delete(scope, threadId, runId);
      return 'deleted';
    },
    404,
  ],

  [
    ['createCron'],
    (scope, { assistantId }) => services.crons.create(on(scope), { assistant_id: assistantId, ...YEARLY }),
    404,
  ],
  [
    ['createThreadCron'],
    (scope, { threadId }) => services.crons.create(on(scope, threadId), { assistant_id: 'echo', ...YEARLY }),
    404,
  ],
  [['getCron', 'getCronAlias'], (scope, { cronId }) => services.crons.get(scope, cronId), 404],
  [
    ['updateCron', 'updateCronAlias'],
    (scope, { cronId }) => services.crons.patch(on(scope), cronId, { enabled: false }),
    404,
  ],
  [
    ['searchCrons'],
    async (scope, { mark }) => (await services.crons.search(scope, { metadata: { mark } }, NEVER)).rows,
    [],
  ],
  [['countCrons'], (scope, { mark }) => services.crons.count(scope, { metadata: { mark } }), 0],
  [
    ['deleteCron', 'deleteCronAlias'],
    async (scope, { cronId }) => {
      await services.crons.delete(scope, cronId);
      return 'deleted';
    },
    404,
  ],

  [
    ['putItem'],
    async (scope, { mark }) => {
      await services.items.put(scope, { namespace: [mark], key: 'k', value: { ...scope[0] } });
      return 'put';
    },
    'not_found',
  ],
  [
    ['getItem'],
    (scope, { mark }) => services.items.get(scope, { namespace: [mark], key: 'k', refreshTtl: undefined }),
    null,
  ],
  [['searchItems'], (scope, { mark }) => services.items.search(scope, { namespace_prefix: [mark] }, NEVER), []],
  [['listNamespaces'], (scope, { mark }) => services.items.listNamespaces(scope, { prefix: [mark] }), []],

  [
    ['getExtendedAgentCard', 'getExtendedAgentCardV03'],
    (scope, { assistantId }) => services.assistants.find(scope, assistantId),
    404,
  ],
  [
    [
      ...['getA2aTask', 'cancelA2aTask', 'subscribeToA2aTask', 'subscribeToA2aTaskAlias'],
      ...['createA2aPushConfig', 'listA2aPushConfigs', 'getA2aPushConfig', 'deleteA2aPushConfig'],
      ...['getA2aTaskV03', 'cancelA2aTaskV03', 'subscribeToA2aTaskV03', 'subscribeToA2aTaskV03Alias'],
      ...['createA2aPushConfigV03', 'listA2aPushConfigsV03', 'getA2aPushConfigV03', 'deleteA2aPushConfigV03'],
    ],
    (scope, { taskId }) => services.taskReader.require(scope, services.echo, taskId),
    404,
  ],
  [
    ['listA2aTasks'],
    (scope, { threadId: contextId }) =>
      services.tasks.list(scope, { assistantId: services.echo, contextId }, { limit: 1, after: undefined }),
    [],
  ],
  [
    ['callA2a', 'sendA2aMessage', 'streamA2aMessage', 'sendA2aMessageV03', 'streamA2aMessageV03'],
    (scope, { taskId }) => sendWithin(scope, { taskId }),
    404,
  ],
  [['runAgUi'], (scope, { threadId }) => services.agUiWithin(scope).start(...shownOn(threadId)), 404],
  [
    ['joinAgUi'],
    async (scope, { threadId }) => {
      const [call, input] = shownOn(threadId);
      await services.agUiWithin(UNRESTRICTED).start(call, input);
      return services.agUiWithin(scope).join(call);
    },
    404,
  ],
];

/** Returns a call of AG-UI about a new run of a thread, with its input. */
function shownOn(threadId: string): [AgUiCall, AgUiInput] {
  const names = { threadId, runId: randomUUID() };
  const request = { caller: services.caller, headers: {}, res: { getHeader: () => undefined, once: () => undefined } };
  const call = { assistant: 'echo', request: request as unknown as AgUiCall['request'], ...names, goesOn: false };
  const messages = [{ id: randomUUID(), role: 'user', content: 'hi' }];
  return [call, { ...names, messages, resume: [{ interruptId: 'i', status: 'resolved' }] }];
}

/** Operations that tests below cover one by one. */
const ELSEWHERE = [
  ...['cancelRun', 'cancelRuns', 'deleteItem'],
  ...['joinRun', 'joinRunStream', 'joinRunStreamAlias', 'joinStatelessRunStream'],
  // See mcp-access.test.ts.
  'callMcp',
];
/** Operations of the deployment, which belong to nobody in it, and those for bearers of a signed URL. */
const UNSCOPED = [
  ...['getInfo', 'getHealth', 'getRoot', 'getMetrics', 'getOpenApi', 'getDocs', 'getUi', 'getUiFile'],
  ...['giveFeedback', 'giveFeedbackByLink', 'getCardKeys'],
  ...['getAgentCard', 'getAssistantCard', 'getPinnedAssistantCard'],
];

it('every operation is scoped, or is known not to be', () => {
  const known = new Set([...CASES.flatMap(([operations]) => operations), ...ELSEWHERE, ...UNSCOPED]);
  expect([...known].sort()).toEqual(AGENT_SERVER_OPERATIONS.map(({ operationId }) => operationId).sort());
});

/** Returns the answer, or the status or the reason of a refusal. */
async function outcome(act: Promise<unknown>): Promise<unknown> {
  try {
    return await act;
  } catch (error) {
    if (error instanceof AppError || error instanceof A2aError) return error.status;
    if (error instanceof BackendError) return error.reason;
    throw error;
  }
}

it.each(CASES)('%j answer for a hidden row as for a missing one', async (_, act, hidden) => {
  expect(await outcome(act(BOB, things))).toEqual(hidden);
  expect(await act(ADA, things)).not.toEqual(hidden);
});

/** Operations on rows as they are now; the others write their own metadata, or go back to older ones. */
const ON_EXISTING = CASES.filter(([[name]]) => !/^(create|put|wait|stream|setLatest)/.test(name!));

it.each(ON_EXISTING)('%j apply every alternative of a scope, and lists in it', async (_, act, hidden) => {
  await services.threads.patch(ADA, things.threadId, { metadata: { teams: ['red', 'blue'] } });
  await services.assistants.patch(ADA, things.assistantId, { metadata: { teams: ['red', 'blue'] } });
  await services.crons.patch(on(ADA), things.cronId, { metadata: { teams: ['red', 'blue'] } });
  const value = { owner: 'ada', teams: ['red', 'blue'] };
  await services.items.put(ADA, { namespace: [things.mark], key: 'k', value });
  const stranger = [{ owner: 'bob' }, { teams: ['red', 'green'] }, { owner: 'ada', teams: ['green'] }];
  expect(await outcome(act(stranger, things))).toEqual(hidden);
  expect(await outcome(act([], things))).toEqual(hidden);
  expect(await act([{ owner: 'bob' }, { teams: ['blue'] }], things)).not.toEqual(hidden);
});

it('nobody creates or changes something so that it would be hidden from them', async () => {
  const { threads, assistants, crons, runs } = services;
  const team = [{ owner: 'bob' }, { teams: ['blue'] }];
  const mine = { metadata: { teams: ['blue'] } };
  const refused = [
    threads.create(team, {}),
    assistants.create(team, { graph_id: 'echo' }),
    crons.create(on(team), { assistant_id: 'echo', ...YEARLY }),
    runs.create(on(team), { assistant_id: 'echo' }),
    runs.create(on(team, randomUUID()), { assistant_id: 'echo', if_not_exists: 'create' }),
  ];
  expect(await Promise.all(refused.map(outcome))).toEqual([403, 403, 403, 403, 404]);
  const { thread_id } = await threads.create(team, mine);
  const { assistant_id } = await assistants.create(team, { graph_id: 'echo', ...mine });
  const { cron_id } = await crons.create(on(team), { assistant_id: 'echo', ...YEARLY, ...mine });
  await runs.create(on(team), { assistant_id: 'echo', ...mine });
  await runs.create(on(team, randomUUID()), { assistant_id: 'echo', if_not_exists: 'create', ...mine });
  const away = { metadata: { teams: ['red'] } };
  const moved = [
    threads.patch(team, thread_id, away),
    assistants.patch(team, assistant_id, away),
    crons.patch(on(team), cron_id, away),
  ];
  expect(await Promise.all(moved.map(outcome))).toEqual([404, 403, 403]);
});

it('a run and a cron need the assistant, and a run its thread, each with a scope of its own', async () => {
  const { runs, crons } = services;
  const { threadId, assistantId: assistant_id } = things;
  const both = { ...on(ADA, threadId), assistantScope: ADA };
  const foreignAssistant = { ...both, assistantScope: BOB };
  const asked = [
    runs.create({ ...both, scope: BOB }, { assistant_id }),
    runs.create(foreignAssistant, { assistant_id }),
    crons.create(foreignAssistant, { assistant_id, ...YEARLY }),
    runs
      .create({ ...both, assistantScope: [] }, { assistant_id: 'echo' })
      .then(() => 'system assistants are open to all'),
  ];
  expect(await Promise.all(asked.map(outcome))).toEqual([404, 404, 404, 'system assistants are open to all']);
  await runs.create(both, { assistant_id });
});

it('a run without a thread belongs to its creator, whoever owns its assistant', async () => {
  const { assistants, runs } = services;
  const metadata = { owner: 'bob', teams: ['blue'] };
  const { assistant_id } = await assistants.create(UNRESTRICTED, { graph_id: 'echo', metadata });
  const team = [{ owner: 'ada' }, { teams: ['blue'] }];
  const own = { assistant_id, metadata: { owner: 'ada' } };
  const { runId } = await runs.create(on(team), own);
  expect(await outcome(runs.findById(BOB, runId))).toBe(404);
  expect(await runs.findById(ADA, runId)).toMatchObject({ runId });
  expect(await outcome(runs.create(on(team), { assistant_id }))).toBe(403);
});

it('a run without a thread and without a user is not for those who own its assistant', async () => {
  const { assistant_id } = await services.assistants.create(ADA, { graph_id: 'echo' });
  const { runId } = await services.runs.create(on(UNRESTRICTED), { assistant_id });
  expect(await outcome(services.runs.findById(ADA, runId))).toBe(404);
  expect((await services.runs.findById(UNRESTRICTED, runId)).metadata).not.toHaveProperty('owner');
});

it('what exists already is answered to those who may read it, whatever they may create', async () => {
  const { threads, assistants } = services;
  const { threadId: thread_id, assistantId: assistant_id } = things;
  const again = { graph_id: 'echo', if_exists: 'do_nothing' } as const;
  const supersteps = [{ updates: [{ values: {}, as_node: '__input__' }] }];
  const asked = (existing: Scope) => [
    threads.create(UNRESTRICTED, { ...again, thread_id }, { existing }),
    threads.create(UNRESTRICTED, { ...again, thread_id, supersteps }, { existing }),
    assistants.create(UNRESTRICTED, { ...again, assistant_id }, { existing }),
  ];
  expect(await Promise.all(asked(BOB).map(outcome))).toEqual([409, 409, 409]);
  expect(await Promise.all(asked(ADA))).toMatchObject([{ thread_id }, { thread_id }, { assistant_id }]);
  // A default assistant is for all.
  await assistants.create(UNRESTRICTED, { ...again, assistant_id: services.echo }, { existing: [] });
});

it('a copy is in the scope of copies, and its source in that of sources', async () => {
  const { threads, retention } = services;
  const copy = (source: Scope, its: Scope, metadata = {}) =>
    retention.copy({ source, copy: its }, things.threadId, { metadata });
  expect((await copy(ADA, BOB, { n: 1, owner: 'carol' })).metadata).toMatchObject({ owner: 'bob', n: 1 });
  expect(await outcome(copy(BOB, UNRESTRICTED))).toBe(409);
  expect(await outcome(copy(ADA, [{ owner: 'bob' }, { teams: ['blue'] }]))).toBe(403);
  const { thread_id } = await copy(ADA, [{ owner: 'bob' }, { teams: ['blue'] }], { teams: ['blue'] });
  expect((await threads.get(UNRESTRICTED, thread_id)).metadata).toMatchObject({ owner: 'ada', teams: ['blue'] });
});

it('the threads of an assistant are deleted with it as far as they may be', async () => {
  const { assistants, threads } = services;
  const { assistant_id } = await assistants.create(ADA, { graph_id: 'echo' });
  const of = (scope: Scope) => threads.create(scope, { metadata: { assistant_id } });
  const [adas, bobs] = [await of(ADA), await of(BOB)];
  await assistants.delete(ADA, assistant_id, { threadScope: BOB });
  const left = [adas, bobs].map(({ thread_id }) => outcome(threads.get(UNRESTRICTED, thread_id)));
  expect(await Promise.all(left)).toMatchObject([{ thread_id: adas.thread_id }, 404]);
});

it('an item of somebody else is not deleted', async () => {
  const item = { namespace: [things.mark], key: 'k' };
  await services.items.delete(BOB, item);
  expect(await services.items.get(UNRESTRICTED, { ...item, refreshTtl: undefined })).toMatchObject({
    value: { owner: 'ada' },
  });
});

it('a run that creates its thread owns it, whoever else asks for the same thread at the same time', async () => {
  const threadId = randomUUID();
  const ask = (scope: Scope) =>
    outcome(services.runs.create(on(scope, threadId), { assistant_id: 'echo', if_not_exists: 'create' }));
  const [first, second] = await Promise.all([ask(ADA), ask(BOB)]);
  expect([first, second].filter((each) => each === 404)).toHaveLength(1);
  const owner = first === 404 ? BOB : ADA;
  expect((await services.threads.get(UNRESTRICTED, threadId)).metadata).toMatchObject(owner[0]!);
});

it('metadata that decide who owns something cannot be given away', async () => {
  const { threads, assistants, crons } = services;
  const { threadId, assistantId, cronId } = things;
  await threads.patch(ADA, threadId, { metadata: { owner: 'bob' } });
  await assistants.patch(ADA, assistantId, { metadata: { owner: 'bob' } });
  await crons.patch(on(ADA), cronId, { metadata: { owner: 'bob' } });
  const all = [threads.get(BOB, threadId), assistants.get(BOB, assistantId), crons.get(BOB, cronId)];
  expect(await Promise.all(all.map(outcome))).toEqual([404, 404, 404]);
});

it('a version from before an assistant changed its owner does not give it back', async () => {
  const { assistants } = services;
  const { assistantId } = things;
  await assistants.patch(UNRESTRICTED, assistantId, { metadata: { owner: 'bob' } });
  expect(await outcome(assistants.setLatest(BOB, assistantId, 1))).toBe(404);
  expect(await assistants.setLatest(BOB, assistantId, 2)).toMatchObject({ metadata: { owner: 'bob' } });
});

it('versions from before an assistant changed its owner are hidden from the new owner', async () => {
  const { assistants } = services;
  const { assistantId } = things;
  await assistants.patch(ADA, assistantId, { config: { configurable: { key: "Ada's" } } });
  await assistants.patch(UNRESTRICTED, assistantId, { metadata: { owner: 'bob' }, config: {} });
  const versionsFor = async (scope: Scope, page = {}) =>
    (await assistants.listVersions(scope, assistantId, page, NEVER)).map(({ version }) => version);
  expect(await versionsFor(BOB)).toEqual([3]);
  expect(await versionsFor(BOB, { metadata: { owner: 'ada' } })).toEqual([]);
  expect(await versionsFor([...ADA, ...BOB], { limit: 2 })).toEqual([3, 2]);
  expect(await versionsFor(UNRESTRICTED)).toEqual([3, 2, 1]);
});

it('every version of a default assistant is for all', async () => {
  const { assistants, echo } = services;
  await assistants.patch(UNRESTRICTED, echo, { metadata: { mark: things.mark } });
  const all = await assistants.listVersions(UNRESTRICTED, echo, {}, NEVER);
  expect(all.length).toBeGreaterThan(1);
  expect(await assistants.listVersions(BOB, echo, {}, NEVER)).toEqual(all);
});

describe('runs in flight', () => {
  const statusOf = async (runId: string) => (await services.runs.findById(UNRESTRICTED, runId)).status;
  const createPending = async (scope: Scope, threadId?: string) =>
    (await services.runs.create(on(scope, threadId), { assistant_id: 'echo' })).record;

  it('on a thread that is not kept are for their creator alone', async () => {
    const { runId, threadId } = await createPending(ADA);
    expect(await outcome(services.runs.find(BOB, threadId, runId))).toBe(404);
    expect(await outcome(services.runs.cancel(BOB, { threadId, runIds: [runId] }, 'interrupt', ''))).toBe(404);
    expect(await services.runs.findById(ADA, runId)).toMatchObject({ status: 'pending' });
    expect(await services.runs.cancel(ADA, { threadId, runIds: [runId] }, 'interrupt', '')).toHaveLength(1);
  });

  it('are cancelled by those who may see them, one by one and all at once', async () => {
    const { threadId } = things;
    const adas = [await createPending(ADA, threadId), await createPending(ADA)].map(({ runId }) => runId);
    const cancel = (scope: Scope) => services.runs.cancel(scope, { status: 'all' }, 'interrupt', '');
    const one = services.runs.cancel(BOB, { threadId, runIds: [adas[0]!] }, 'rollback', '');
    expect(await Promise.all([outcome(one), outcome(cancel(BOB))])).toEqual([404, 404]);
    const { runId: bobs } = await createPending(BOB);
    expect(await cancel(BOB)).toMatchObject([{ runId: bobs }]);
    expect(await Promise.all(adas.map(statusOf))).toEqual(['pending', 'pending']);
    expect((await cancel(ADA)).map(({ runId }) => runId).sort()).toEqual(adas.sort());
  });
});

describe('joining a run', () => {
  type Answer = (client: { res: ServerResponse; headers: IncomingMessage['headers'] }) => Promise<void>;

  /** Returns what is sent to a client with these headers. */
  async function sent(answer: Answer, headers: Record<string, string> = {}): Promise<string> {
    const server = createServer((req, res) => {
      answer({ res, headers: req.headers }).catch((error: unknown) => res.writeHead(500).end(String(error)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      return await (await fetch(`http://127.0.0.1:${port}`, { headers })).text();
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }
  const about = (scope: Scope) => ({ scope, cancelScope: scope, log: silentLogger, caller: INTERNAL });
  const params = () => ({ thread_id: things.threadId, run_id: things.runId });
  const join = (scope: Scope, headers?: Record<string, string>) =>
    sent((client) => services.answers.join(params(), {}, { ...client, ...about(scope) }), headers);
  const joinStream = (scope: Scope, headers?: Record<string, string>) =>
    sent((client) => services.answers.joinStream(params(), {}, { ...client, ...about(scope) }), headers);
  /** The headers with which the gateway requests the continuation of an answer. */
  const continued = { [HANDOFF_HEADER]: 'continued', 'last-event-id': '0-0' };

  it('shows it to those who may see it', async () => {
    expect(JSON.parse(await join(ADA))).toEqual({ said: things.mark });
    expect(await joinStream(ADA)).toBe('');
  });

  it('answers everybody else as for a missing run, also when it continues an answer', async () => {
    const missing = { error: 'HTTPException', message: '404: Run not found' };
    for (const text of [await join(BOB), await joinStream(BOB)]) expect(text).toBe('NotFoundError: Run not found');
    expect(await join(BOB, continued)).toBe('{}');
    const text = await joinStream(BOB, continued);
    expect(text).toContain('event: error');
    expect(text).toContain(JSON.stringify(missing));
  });
});
