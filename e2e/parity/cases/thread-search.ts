import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { fieldCase, type ParityContext } from '../framework/index.ts';

const SEARCHES = ['searchThreads', 'countThreads'];
const human = (content: string) => ({ messages: [{ type: 'human', content, id: content }] });

/** Creates a thread, whatever the operation under test. */
async function existing({ direct }: ParityContext, body: object = {}): Promise<string> {
  return (await direct.call('createThread', { body })).body.thread_id;
}

/** Creates threads that only this case knows: their common mark, and their ids in the order of creation. */
async function marked(context: ParityContext, ...metadata: object[]) {
  const mark = randomUUID();
  const ids: string[] = [];
  for (const each of metadata) ids.push(await existing(context, { metadata: { mark, ...each } }));
  return { mark, ids };
}

/** Returns the ids found among the threads with the mark, or their number. */
async function found(context: ParityContext, mark: string, body: object): Promise<string[] | number> {
  const answer = await context.call(context.operation, { body: { ...body, metadata: { mark } } });
  expect(answer.status, answer.text).toBe(200);
  return Array.isArray(answer.body) ? answer.body.map(({ thread_id }) => thread_id) : answer.body;
}

/** Expects that `found` returns these threads, in any order. */
function expectFound(answer: string[] | number, ids: string[]): void {
  if (typeof answer === 'number') expect(answer).toBe(ids.length);
  else expect([...answer].sort()).toEqual([...ids].sort());
}

async function withState(context: ParityContext, threadId: string, text: string): Promise<void> {
  await context.direct.client.threads.updateState(threadId, { values: human(text), asNode: 'echo' });
}

/** Searches threads by the operation under test and returns the whole answer. */
async function searched(context: ParityContext, body: object) {
  const answer = await context.call('searchThreads', { body });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

export const cases = [
  fieldCase({
    operations: SEARCHES,
    field: 'body.metadata',
    promise: 'threads whose metadata holds this are found',
    run: async (context) => {
      const { mark, ids } = await marked(context, {}, {});
      expectFound(await found(context, mark, {}), ids);
    },
  }),
  fieldCase({
    operations: SEARCHES,
    field: 'body.exclude_metadata',
    promise: 'threads whose metadata holds this are left out',
    run: async (context) => {
      const { mark, ids } = await marked(context, { kind: 'a' }, { kind: 'b' });
      expectFound(await found(context, mark, { exclude_metadata: { kind: 'a' } }), [ids[1]!]);
    },
  }),
  fieldCase({
    operations: SEARCHES,
    field: 'body.values',
    promise: 'threads whose state holds this are found',
    run: async (context) => {
      const { mark, ids } = await marked(context, { graph_id: 'echo' }, { graph_id: 'echo' });
      await withState(context, ids[0]!, 'needle');
      expectFound(await found(context, mark, { values: human('needle') }), [ids[0]!]);
    },
  }),
  fieldCase({
    operations: SEARCHES,
    field: 'body.status',
    promise: 'threads of this status are found',
    run: async (context) => {
      const { mark, ids } = await marked(context, {}, {});
      await context.direct.client.runs.create(ids[1]!, 'echo', { input: {}, afterSeconds: 600 });
      expectFound(await found(context, mark, { status: 'busy' }), [ids[1]!]);
    },
  }),
  ...(['state_updated_after', 'state_updated_before'] as const).map((field) =>
    fieldCase({
      operations: SEARCHES,
      field: `body.${field}`,
      promise: 'threads whose state changed after or before a time are found, to the microsecond',
      run: async (context) => {
        const { mark, ids } = await marked(context, {}, {}, {});
        const { state_updated_at } = (await context.direct.call('getThread', { params: { thread_id: ids[1]! } })).body;
        const expected = field === 'state_updated_after' ? ids[2]! : ids[0]!;
        expectFound(await found(context, mark, { [field]: state_updated_at }), [expected]);
      },
    }),
  ),
  fieldCase({
    operations: ['searchThreads'],
    field: 'body.ids',
    promise: 'only these threads are found',
    run: async (context) => {
      const { mark, ids } = await marked(context, {}, {});
      expect(await found(context, mark, { ids: [ids[0]] })).toEqual([ids[0]]);
    },
  }),
  ...['limit', 'offset'].map((field) =>
    fieldCase({
      operations: ['searchThreads'],
      field: `body.${field}`,
      promise: 'a page begins there and has that many, and says where the next one begins and how many match',
      run: async (context) => {
        const { mark, ids } = await marked(context, {}, {}, {}, {});
        const { body, headers } = await searched(context, { metadata: { mark }, limit: 2, offset: 1 });
        expect(body.map(({ thread_id }: { thread_id: string }) => thread_id)).toEqual([ids[2], ids[1]]);
        expect(headers.get('x-pagination-next')).toBe('3');
        expect(headers.get('x-pagination-total')).toBe('4');
      },
    }),
  ),
  ...['sort_by', 'sort_order'].map((field) =>
    fieldCase({
      operations: ['searchThreads'],
      field: `body.${field}`,
      promise: 'threads come in this order',
      run: async (context) => {
        const { mark, ids } = await marked(context, {}, {}, {});
        await context.direct.call('patchThread', {
          params: { thread_id: ids[0]! },
          body: { metadata: { late: true } },
        });
        expect(await found(context, mark, { sort_by: 'created_at', sort_order: 'asc' })).toEqual(ids);
        for (const sort_by of ['thread_id', 'status', 'updated_at', 'state_updated_at']) {
          const [up, down] = await Promise.all(
            ['asc', 'desc'].map((sort_order) => found(context, mark, { sort_by, sort_order })),
          );
          expect(up).toEqual([...(down as string[])].reverse());
        }
        const latestLast = [ids[1], ids[2], ids[0]];
        expect(await found(context, mark, { sort_by: 'updated_at', sort_order: 'asc' })).toEqual(latestLast);
      },
    }),
  ),
  fieldCase({
    operations: ['searchThreads'],
    field: 'body.select',
    promise: 'threads have these fields alone',
    run: async (context) => {
      const { mark, ids } = await marked(context, {});
      const { body } = await searched(context, { metadata: { mark }, select: ['thread_id', 'status'] });
      expect(body).toEqual([{ thread_id: ids[0], status: 'idle' }]);
    },
  }),
  fieldCase({
    operations: ['searchThreads'],
    field: 'body.extract',
    promise: 'what paths name in a thread is told',
    run: async (context) => {
      const { mark, ids } = await marked(context, { graph_id: 'echo' });
      await withState(context, ids[0]!, 'hi');
      const extract = { last: 'values.messages[-1].content', mark: 'metadata.mark', none: 'values.zap' };
      const { body } = await searched(context, { metadata: { mark }, select: ['thread_id'], extract });
      expect(body).toEqual([{ thread_id: ids[0], extracted: { last: 'hi', mark, none: null } }]);
    },
  }),
];
