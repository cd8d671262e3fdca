import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { fieldCase, type ParityContext, statusCase, type WireEvent } from '../framework/index.ts';
import { readUntil } from '../framework/server-sent-events.ts';

type Params = Record<string, string>;

const FAMILY = { assistant_id: 'family', input: { text: 'hi' } };
const SLOW = { assistant_id: 'slow', input: { name: 'joined', steps: 20, stepMs: 80 } };
const EVERYTHING = { 'last-event-id': '-1' };

const ON_THREAD = ['createRun', 'streamRun', 'waitRun'];
const STATELESS = ['createStatelessRun', 'streamStatelessRun', 'waitStatelessRun'];
const JOINS = ['joinRunStream', 'joinRunStreamAlias', 'joinStatelessRunStream'];

/** Starts a run by the operation under test, whichever it is, and returns its id. */
async function start({ operation, call, direct }: ParityContext, body: object): Promise<string> {
  if (operation === 'createRunBatch') return (await call(operation, { body: [body] })).body[0].run_id;
  const params: Params = ON_THREAD.includes(operation) ? { thread_id: await newThread(direct.client) } : {};
  const { headers } = await call(operation, { params, body });
  return headers.get('content-location')!.split('/').at(-1)!;
}

async function newThread(client: ParityContext['client']): Promise<string> {
  return (await client.threads.create({ threadId: randomUUID(), graphId: 'family' })).thread_id;
}

/** Returns all kept events of a run, to its end. */
async function replay({ direct }: ParityContext, runId: string): Promise<WireEvent[]> {
  return (await direct.call('joinStatelessRunStream', { params: { run_id: runId }, headers: EVERYTHING })).events;
}

/** Creates a run to be joined by the operation under test. */
async function runToJoin({ operation, direct }: ParityContext, body: object) {
  const thread_id = await newThread(direct.client);
  const { run_id } = (await direct.call('createRun', { params: { thread_id }, body })).body;
  const params: Params = operation === 'joinStatelessRunStream' ? { run_id } : { thread_id, run_id };
  return { thread_id, run_id, params };
}

/** Opens the stream of a thread that has had a run, starts another, and returns the events up to its end. */
async function followThread({ operation, open, direct }: ParityContext, request: object): Promise<WireEvent[]> {
  const thread_id = await newThread(direct.client);
  const body = { ...FAMILY, stream_resumable: true };
  await direct.call('waitRun', { params: { thread_id }, body });
  const response = await open(operation, { params: { thread_id }, ...request });
  const { run_id } = (await direct.call('createRun', { params: { thread_id }, body })).body;
  return readUntil(response, ({ data }) => data.status === 'run_done' && data.run_id === run_id);
}

const names = (events: WireEvent[]) => events.map(({ event }) => event);
const kinds = (events: WireEvent[]) => new Set(names(events).map((name) => name.split('|')[0]));

/** Returns cases for a field of a run's request, which a batch has in each of its runs. */
function ofRuns(field: string, promise: string, run: (context: ParityContext) => Promise<unknown>) {
  return [
    fieldCase({ operations: [...ON_THREAD, ...STATELESS], field: `body.${field}`, promise, run }),
    fieldCase({ operations: ['createRunBatch'], field: `body[].${field}`, promise, run }),
  ];
}

export const cases = [
  ...ofRuns('stream_mode', 'the stream tells the modes that were asked for, one or many', async (ctx) => {
    for (const stream_mode of ['updates', ['updates', 'tasks']]) {
      const events = await replay(ctx, await start(ctx, { ...FAMILY, stream_mode, stream_resumable: true }));
      expect(kinds(events)).toEqual(new Set(['metadata', ...[stream_mode].flat()]));
    }
  }),
  fieldCase({
    operations: ['streamStatelessRun'],
    field: 'body.stream_mode',
    promise: 'the stream tells of tools, from the call to what they give',
    run: async (ctx) => {
      const input = { messages: [{ role: 'user', content: 'hi' }] };
      const body = { assistant_id: 'weather', input, stream_mode: 'tools', stream_resumable: true };
      const events = await replay(ctx, await start(ctx, body));
      expect(events.map(({ event, data }) => [event, data.event, data.toolCallId])).toEqual([
        ['metadata', undefined, undefined],
        ['tools', 'on_tool_start', 'call_1'],
        ['tools', 'on_tool_end', 'call_1'],
      ]);
    },
  }),
  ...ofRuns('stream_subgraphs', 'events of subgraphs come too, named by their namespace', async (ctx) => {
    const body = { ...FAMILY, stream_mode: 'updates', stream_resumable: true, stream_subgraphs: true };
    const events = await replay(ctx, await start(ctx, body));
    expect(names(events)).toEqual(['metadata', expect.stringMatching(/^updates\|child:[0-9a-f-]{36}$/), 'updates']);
  }),
  ...ofRuns('stream_resumable', 'events have ids and can be read again after the end', async (ctx) => {
    const events = await replay(ctx, await start(ctx, { ...FAMILY, stream_resumable: true }));
    expect(names(events)).toEqual(['metadata', 'values', 'values']);
    const id = expect.stringMatching(/^\d+-\d+$/);
    expect(events).toMatchObject(events.map(() => ({ id })));
  }),
  fieldCase({
    operations: JOINS,
    field: 'query.stream_mode',
    promise: 'only these modes of the run come, given once, repeated, comma-separated or as a JSON list',
    run: async (ctx) => {
      const body = { ...FAMILY, stream_mode: ['values', 'updates', 'tasks'], stream_resumable: true };
      const { params } = await runToJoin(ctx, body);
      for (const stream_mode of [['updates', 'tasks'], 'updates,tasks', '["updates","tasks"]']) {
        const { events } = await ctx.call(ctx.operation, { params, query: { stream_mode }, headers: EVERYTHING });
        expect(kinds(events)).toEqual(new Set(['updates', 'tasks']));
      }
    },
  }),
  fieldCase({
    operations: JOINS,
    field: 'header.last-event-id',
    promise: 'the stream goes on strictly after that event',
    run: async (ctx) => {
      const { params, run_id } = await runToJoin(ctx, { ...FAMILY, stream_resumable: true });
      const all = await replay(ctx, run_id);
      const { events } = await ctx.call(ctx.operation, { params, headers: { 'last-event-id': all[0]!.id! } });
      expect(events).toEqual(all.slice(1));
    },
  }),
  fieldCase({
    operations: JOINS,
    field: 'query.cancel_on_disconnect',
    promise: 'the run is cancelled when the client leaves',
    run: async (ctx) => {
      const { params, thread_id, run_id } = await runToJoin(ctx, { ...SLOW, stream_mode: 'updates' });
      const client = new AbortController();
      const query = { cancel_on_disconnect: true };
      const stream = await ctx.open(ctx.operation, { params, query, signal: client.signal });
      await readUntil(stream, ({ event }) => event === 'updates');
      client.abort();
      await ctx.direct.call('joinRun', { params: { thread_id, run_id } });
      expect((await ctx.direct.client.runs.get(thread_id, run_id)).status).toBe('interrupted');
    },
  }),
  ...['query.stream_mode', 'query.stream_modes'].map((field) =>
    fieldCase({
      operations: ['joinThreadStream'],
      field,
      promise: 'says what of the thread is told: with lifecycle only where runs begin and end',
      run: async (ctx) => {
        const events = await followThread(ctx, { query: { [field.slice('query.'.length)]: 'lifecycle' } });
        expect(names(events)).toEqual(['metadata', 'metadata']);
      },
    }),
  ),
  fieldCase({
    operations: ['joinThreadStream'],
    field: 'header.last-event-id',
    promise: 'the stream begins with what came after that event, -1 with all that is kept',
    run: async (ctx) => {
      const events = await followThread(ctx, { headers: EVERYTHING });
      const run = ['metadata', 'values', 'values', 'metadata'];
      expect(names(events)).toEqual([...run, ...run]);
    },
  }),
  statusCase({
    operation: 'joinThreadStream',
    status: 422,
    promise: 'names the mode that there is none of',
    run: async ({ call, direct }) => {
      const params = { thread_id: await newThread(direct.client) };
      const answer = await call('joinThreadStream', { params, query: { stream_mode: 'lifecycle,zap' } });
      expect(answer.body).toEqual({ detail: 'Invalid stream mode: zap' });
      return answer;
    },
  }),
];
