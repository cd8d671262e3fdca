import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replayRequest } from '../src/runs/replay-request.ts';
import { FakeAgentServer } from './support/agent-server.ts';
import { runyard } from './support/command.ts';

const threadId = randomUUID();
const runId = randomUUID();
const run = {
  run_id: runId,
  thread_id: threadId,
  assistant_id: randomUUID(),
  status: 'success',
  metadata: { owner: 'ada', graph_id: 'chat', assistant_id: 'a', created_by: 'system' },
  kwargs: {
    input: { text: 'hi' },
    command: null,
    webhook: 'https://example.com/hook',
    feedback_keys: ['score'],
    stream_mode: ['updates'],
    interrupt_before: ['act'],
    interrupt_after: null,
    durability: 'sync',
    subgraphs: true,
    config: {
      recursion_limit: 5,
      metadata: { langgraph_host: 'x' },
      configurable: { model: 'small', run_id: runId, thread_id: threadId, checkpoint_id: 'c', langgraph_auth_user: {} },
    },
  } as Record<string, unknown>,
};

describe('the request of a replay', () => {
  const start = { run, checkpointId: 'before', takesInput: true };

  it('has what the run was given, and neither its webhook nor what its server added', () => {
    expect(replayRequest(start)).toEqual({
      assistant_id: run.assistant_id,
      checkpoint_id: 'before',
      input: { text: 'hi' },
      stream_mode: ['updates'],
      interrupt_before: ['act'],
      durability: 'sync',
      stream_subgraphs: true,
      stream_resumable: true,
      multitask_strategy: 'reject',
      config: { recursion_limit: 5, configurable: { model: 'small' } },
      metadata: { owner: 'ada', runyard_replay_of: runId },
    });
  });

  it('has one of context and configurable, since servers refuse both', () => {
    const kwargs = { ...run.kwargs, context: { model: 'large' } };
    const request = replayRequest({ ...start, run: { ...run, kwargs } });
    expect([request.context, request.config]).toEqual([{ model: 'large' }, { recursion_limit: 5 }]);
  });

  it('has no input where the checkpoint has it, and the command where the run had one', () => {
    const command = { resume: 'yes' };
    const answered = { ...run, kwargs: { ...run.kwargs, input: null, command } };
    expect(replayRequest({ ...start, run: answered })).toMatchObject({ input: null, command });
    const going = replayRequest({ run: answered, checkpointId: 'question', takesInput: false });
    expect([going.input, going.command]).toEqual([null, undefined]);
  });
});

describe('runs replay', () => {
  let server: FakeAgentServer;
  let states: object[];
  beforeEach(async () => {
    server = await new FakeAgentServer().open();
    states = [];
    server.intercept = ({ method, path, body }) => {
      if (path === `/threads/${threadId}/runs/${runId}`) return { status: 200, body: run };
      if (path.endsWith('/history')) {
        const isPast = body.before !== undefined;
        return { status: 200, body: isPast ? [] : states };
      }
      if (method === 'GET' && path.includes('/state/')) return { status: 200, body: { values: {}, created_at: null } };
      if (method === 'POST' && path.endsWith('/copy')) return { status: 200, body: { thread_id: randomUUID() } };
      if (method === 'POST' && path === '/threads') return { status: 200, body: { thread_id: randomUUID() } };
      if (method === 'POST' && path.endsWith('/runs')) return { status: 200, body: { run_id: randomUUID() } };
      return undefined;
    };
  });
  afterEach(() => server.close());

  const replay = (...args: string[]) =>
    runyard(['runs', 'replay', threadId, runId, '--no-wait', '--url', server.url, ...args]);
  const state = (id: string, parent: string | null, metadata: object) => ({
    checkpoint: { checkpoint_id: id },
    parent_checkpoint: parent === null ? null : { checkpoint_id: parent },
    created_at: '2026-11-30T00:00:00Z',
    metadata,
    next: [],
  });
  const startedRuns = () => server.writes.filter((write) => write.endsWith('/runs'));

  it('says that nothing tells where a run began which left no checkpoint among others', async () => {
    states = [state('other', null, { run_id: randomUUID(), source: 'input' })];
    expect(await replay()).toMatchObject({ exitCode: 1, err: expect.stringContaining('has left no checkpoint') });
    expect(startedRuns()).toEqual([]);
  });

  it('replays on a new thread alone what began on nothing and kept no checkpoint of its input', async () => {
    states = [state('end', null, { run_id: runId, source: 'loop' })];
    expect(await replay()).toMatchObject({ exitCode: 1, err: expect.stringContaining('--copy replays it') });
    expect(startedRuns()).toEqual([]);
    const copied = await replay('--copy', '--json');
    const [{ thread_id: made }] = copied.events();
    expect(made).not.toBe(threadId);
    expect(startedRuns()).toEqual([`POST /threads/${made}/runs`]);
  });

  it('starts nothing on a copy that lacks the checkpoint', async () => {
    states = [state('first', 'before', { run_id: runId, source: 'input' })];
    const ended = await replay('--copy');
    expect(ended).toMatchObject({ exitCode: 1, err: expect.stringContaining('has not the checkpoint before') });
    expect(startedRuns()).toEqual([]);
  });

  it('says when the arguments of the run cannot be read', async () => {
    states = [state('first', 'before', { run_id: runId, source: 'input' })];
    const { intercept } = server;
    const unreadable = { ...run, kwargs: { error: 'the key is missing' } };
    server.intercept = (request) =>
      request.path === `/threads/${threadId}/runs/${runId}` ? { status: 200, body: unreadable } : intercept(request);
    expect(await replay()).toMatchObject({ exitCode: 1, err: expect.stringContaining('cannot be read') });
  });
});
