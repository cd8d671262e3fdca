import { EventEmitter } from 'node:events';
import { NO_ENCRYPTION } from '@runyard/encryption';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Scope } from '../src/access/scope.ts';
import type { McpCall, Outcome, Peer } from '../src/mcp/call.ts';
import { ToolRuns } from '../src/mcp/calls/tool-runs.ts';
import { TaskMethods } from '../src/mcp/methods/task-methods.ts';
import { jsonPieces } from '../src/mcp/protocol/json-bytes.ts';
import { GivenAnswers } from '../src/mcp/tasks/given-answers.ts';
import { type ConversationSources, OldConversation } from '../src/mcp/tasks/old-conversation.ts';
import { ToolTasks } from '../src/mcp/tasks/tool-tasks.ts';
import { toTool } from '../src/mcp/tools/tool.ts';
import type { ProtocolAccess } from '../src/protocols/access.ts';
import { NOBODY, openServices, type TestServices } from './services.ts';

const ADA: Scope = [{ owner: 'ada' }];
const QUESTION = { id: 'i1', value: 'Sure?' };

let services: TestServices;
beforeAll(async () => {
  services = await openServices();
});
afterAll(() => services?.close());

const call = {
  id: 1,
  client: { asksUser: true, isNew: false, revision: '2025-11-25' },
  request: { headers: {}, signal: new AbortController().signal, res: new EventEmitter() },
} as unknown as McpCall;

/** Opens tasks of MCP as Ada sees them, on streams in which nothing comes. */
function openTasks() {
  const { engine, runs, threads, tasks: store, taskReader: reader, pool } = services;
  const access: ProtocolAccess = {
    ask: async (_request, { value }) => ({ scope: ADA, value }),
    creatorOf: () => ({ creator: NOBODY, userId: '', requestId: '' }),
  };
  const streams = { append: async () => [], async *read() {} };
  const toolRuns = new ToolRuns({ access, engine, runs, streams, threads });
  const answers = new GivenAnswers(pool, NO_ENCRYPTION);
  const tasks = new ToolTasks({ access, tasks: store, reader, engine, answers, runs: toolRuns });
  const watched: unknown[] = [];
  const rights = { watchAnswer: (_: unknown, ...about: unknown[]) => void watched.push(about) };
  const sources = { streams, watch: { watch: () => () => undefined } } as unknown as ConversationSources;
  const conversation = new OldConversation(sources, tasks, rights);
  return { conversation, methods: new TaskMethods({ access, tasks, conversation }), runs: toolRuns, watched };
}

/** A client that follows on a stream. */
function follow() {
  const sent: unknown[] = [];
  const peer: Peer = {
    closed: new AbortController().signal,
    isStream: true,
    send: async (message) => void sent.push(message),
  };
  return { peer, sent };
}

async function beginCall(runs: ToolRuns) {
  const assistant = { ...(await services.assistants.find([], services.echo)), toolName: 'echo' };
  const tool = toTool(assistant, undefined);
  const what = { tool, arguments: {}, context: undefined, hasProgress: false, isTask: true, ttlMs: 60_000 };
  return runs.begin(call.request, what);
}

it('a user whose call waits for an answer is asked about again, by the right that it has', async () => {
  const { conversation, methods, runs, watched } = openTasks();
  const run = await beginCall(runs);
  await services.askInRuns(QUESTION);
  const { peer, sent } = follow();
  const outcome = (await methods.resultOld(call, { taskId: run.taskId })) as Outcome & { kind: 'later' };
  await outcome.value(peer);
  expect(sent).toMatchObject([{ method: 'elicitation/create' }]);
  expect(watched).toEqual([[run.threadId, { event: 'threads:read' }]]);

  const right = { event: 'threads:create_run', value: { assistant_id: services.echo } } as const;
  await conversation.settle(call, run, peer, {
    right,
    readEnd: async () => ({ kind: 'asks', values: {}, interrupts: [QUESTION] }),
  });
  expect(watched.slice(1)).toEqual([[run.threadId, right]]);
});

it('a user whose call ends by itself is not asked about', async () => {
  const { methods, runs, watched } = openTasks();
  const { taskId } = await beginCall(runs);
  await services.endRuns({ done: true });
  const outcome = (await methods.resultOld(call, { taskId })) as Outcome & { kind: 'later' };
  const result = jsonPieces((await outcome.value(follow().peer))!);
  expect(JSON.parse(Buffer.concat(result).toString())).toMatchObject({ structuredContent: { done: true } });
  expect(watched).toEqual([]);
});
