import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { fieldCase, type ParityContext, type WireEvent } from '../framework/index.ts';
import { readUntil } from '../framework/server-sent-events.ts';

const START = { id: 7, method: 'run.start', params: { assistant_id: 'family', input: { text: 'hi' } } };
const CHANNELS = ['lifecycle', 'values'];

/** Runs a graph with a graph inside on a new thread. */
async function runFamily({ direct }: ParityContext): Promise<{ thread_id: string }> {
  const params = { thread_id: randomUUID() };
  const { body } = await direct.call('sendCommand', { params, body: START });
  await direct.call('joinRun', { params: { ...params, run_id: body.result.run_id } });
  return params;
}

/** Opens the stream of a thread and returns its events up to one that `isLast` accepts. */
async function follow(
  { open }: ParityContext,
  params: { thread_id: string },
  body: object,
  isLast: (event: WireEvent) => boolean,
): Promise<WireEvent[]> {
  const leaving = new AbortController();
  const response = await open('streamEvents', { params, body, signal: leaving.signal });
  expect(response.status).toBe(200);
  try {
    return await readUntil(response, isLast);
  } finally {
    leaving.abort();
  }
}

const namespaceOf = ({ data }: WireEvent): string[] => data.params.namespace;
const isEnd = (event: WireEvent) => event.data.params.data.event === 'completed';
const isRootEnd = (event: WireEvent) => isEnd(event) && namespaceOf(event).length === 0;

export const cases = [
  fieldCase({
    operations: ['sendCommand'],
    field: 'body.id',
    promise: 'comes back in the response',
    run: async ({ call }) => {
      const { body } = await call('sendCommand', { params: { thread_id: randomUUID() }, body: START });
      expect(body).toMatchObject({ type: 'success', id: 7 });
    },
  }),
  fieldCase({
    operations: ['sendCommand'],
    field: 'body.method',
    promise: 'names the command',
    run: async ({ call }) => {
      const { body } = await call('sendCommand', {
        params: { thread_id: randomUUID() },
        body: { id: 1, method: 'zap' },
      });
      expect(body).toMatchObject({ type: 'error', error: 'unknown_command' });
    },
  }),
  fieldCase({
    operations: ['sendCommand'],
    field: 'body.params',
    promise: 'say what the command does: which assistant runs, on what',
    run: async ({ call }) => {
      const { body } = await call('sendCommand', { params: { thread_id: randomUUID() }, body: START });
      expect(body).toMatchObject({ result: { run_id: expect.any(String) } });
    },
  }),
  fieldCase({
    operations: ['streamEvents'],
    field: 'body.channels',
    promise: 'only events of these channels come',
    run: async (ctx) => {
      const events = await follow(ctx, await runFamily(ctx), { channels: ['lifecycle'] }, isRootEnd);
      expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['lifecycle']));
    },
  }),
  fieldCase({
    operations: ['streamEvents'],
    field: 'body.namespaces',
    promise: 'only events of these namespaces and of those below them come',
    run: async (ctx) => {
      const body = { channels: CHANNELS, namespaces: [['child']] };
      const events = await follow(ctx, await runFamily(ctx), body, isEnd);
      for (const event of events) expect(String(namespaceOf(event)[0])).toMatch(/^child:/);
    },
  }),
  fieldCase({
    operations: ['streamEvents'],
    field: 'body.depth',
    promise: 'says how far below them',
    run: async (ctx) => {
      const body = { channels: CHANNELS, namespaces: [[]], depth: 0 };
      const events = await follow(ctx, await runFamily(ctx), body, isRootEnd);
      for (const event of events) expect(namespaceOf(event)).toEqual([]);
    },
  }),
  fieldCase({
    operations: ['streamEvents'],
    field: 'body.since',
    promise: 'the stream goes on strictly after that event',
    run: async (ctx) => {
      const params = await runFamily(ctx);
      const body = { channels: CHANNELS };
      const all = await follow({ ...ctx, open: ctx.direct.open }, params, body, isRootEnd);
      const rest = await follow(ctx, params, { ...body, since: all[0]!.data.seq }, isRootEnd);
      expect(rest).toEqual(all.slice(1));
    },
  }),
];
