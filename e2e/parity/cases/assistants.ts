import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import {
  answerCase,
  fieldCase,
  type ParityCase,
  type ParityContext,
  type ParityRequest,
  type ServerConnection,
  statusCase,
} from '../framework/index.ts';

async function create(way: ServerConnection, body: object = {}) {
  const { status, text, body: assistant } = await way.call('createAssistant', { body: { graph_id: 'echo', ...body } });
  expect(status, text).toBe(200);
  return assistant;
}
const get = async (way: ServerConnection, assistant_id: string) =>
  (await way.call('getAssistant', { params: { assistant_id } })).body;
const patch = (way: ServerConnection, assistant_id: string, body: object) =>
  way.call('patchAssistant', { params: { assistant_id }, body });

/**
 * Each field is given when an assistant is created, or over another value when it is changed; both answers have the
 * kept value.
 */
const contentFields: { field: string; promise: string; given: object; before: object; kept: object }[] = [
  {
    field: 'graph_id',
    promise: 'names the graph that is configured',
    given: { graph_id: 'chat' },
    before: {},
    kept: { graph_id: 'chat' },
  },
  {
    field: 'config',
    promise: 'is kept with all its keys, and replaced as a whole',
    given: { config: { tags: ['new'], run_name: 'mine' } },
    before: { config: { recursion_limit: 9 } },
    kept: { config: { tags: ['new'], run_name: 'mine' } },
  },
  {
    field: 'metadata',
    promise: 'is kept, merged key by key when it is changed',
    given: { metadata: { team: 'blue' } },
    before: { metadata: { team: 'red' } },
    kept: { metadata: { team: 'blue' } },
  },
  {
    field: 'name',
    promise: 'is what people call it',
    given: { name: 'Polite' },
    before: { name: 'Curt' },
    kept: { name: 'Polite' },
  },
  {
    field: 'description',
    promise: 'tells people what it is for',
    given: { description: 'new' },
    before: { description: 'old' },
    kept: { description: 'new' },
  },
];

const content: ParityCase[] = contentFields.map(({ field, promise, given, before, kept }) =>
  fieldCase({
    operations: ['createAssistant', 'patchAssistant'],
    field: `body.${field}`,
    promise,
    run: async (ctx) => {
      const isNew = ctx.operation === 'createAssistant';
      const { assistant_id } = isNew ? await create(ctx, given) : await create(ctx.direct, before);
      if (!isNew) expect((await patch(ctx, assistant_id, given)).body).toMatchObject({ ...kept, version: 2 });
      const now = await get(ctx.direct, assistant_id);
      expect(now).toMatchObject(kept);
      if ('config' in kept) expect(now.config).toEqual(kept.config);
    },
  }),
);

/** Each field is given when an assistant is created, or over another value when it is changed; its runs get it. */
const runFields: { field: string; promise: string; given: object; before: object; seen: object }[] = [
  {
    field: 'config.tags',
    promise: 'runs of the assistant have the tags',
    given: { config: { tags: ['new'] } },
    before: { config: { tags: ['old'] } },
    seen: { seen: { tags: expect.arrayContaining(['new']) } },
  },
  {
    field: 'config.recursion_limit',
    promise: 'runs of the assistant fail when they take more steps',
    given: { config: { recursion_limit: 1 } },
    before: { config: { recursion_limit: 9 } },
    seen: { __error__: { error: 'GraphRecursionError' } },
  },
  {
    field: 'config.configurable',
    promise: 'runs of the assistant get it, as context too',
    given: { config: { configurable: { tone: 'new' } } },
    before: { context: { tone: 'old' } },
    seen: { seen: { configurable: { tone: 'new' }, context: { tone: 'new' } } },
  },
  {
    field: 'context',
    promise: 'runs of the assistant get it, as configurable too',
    given: { context: { tone: 'new' } },
    before: { context: { tone: 'old' } },
    seen: { seen: { configurable: { tone: 'new' }, context: { tone: 'new' } } },
  },
];

const running: ParityCase[] = runFields.map(({ field, promise, given, before, seen }) =>
  fieldCase({
    operations: ['createAssistant', 'patchAssistant'],
    field: `body.${field}`,
    promise,
    run: async (ctx) => {
      const isNew = ctx.operation === 'createAssistant';
      const mirror = { graph_id: 'mirror' };
      const { assistant_id } = await (isNew
        ? create(ctx, { ...mirror, ...given })
        : create(ctx.direct, { ...mirror, ...before }));
      if (!isNew) await patch(ctx, assistant_id, { name: 'changed', ...given });
      const body = { assistant_id, input: { text: 'hi' } };
      expect((await ctx.direct.call('waitStatelessRun', { body })).body).toMatchObject(seen);
    },
  }),
);

const creating: ParityCase[] = [
  fieldCase({
    operations: ['createAssistant'],
    field: 'body.assistant_id',
    promise: 'is the id it gets',
    run: async (ctx) => {
      const assistant_id = randomUUID();
      expect(await create(ctx, { assistant_id })).toMatchObject({ assistant_id });
    },
  }),
  fieldCase({
    operations: ['createAssistant'],
    field: 'body.if_exists',
    promise: 'do_nothing answers the assistant that has the id, as it is',
    run: async (ctx) => {
      const { assistant_id } = await create(ctx.direct, { name: 'first' });
      const body = { assistant_id, graph_id: 'chat', name: 'second', if_exists: 'do_nothing' };
      expect((await ctx.call('createAssistant', { body })).body).toMatchObject({ name: 'first', graph_id: 'echo' });
    },
  }),
];

/**
 * Searches over `Ada` and `Bob` of graph echo and `ada's` of graph chat, created in this order, with the names they
 * find.
 */
const searchFields: { field: string; promise: string; body: object; names: string[]; alsoCounts?: true }[] = [
  {
    field: 'graph_id',
    promise: 'leaves those of a graph',
    body: { graph_id: 'chat' },
    names: ["ada's"],
    alsoCounts: true,
  },
  {
    field: 'name',
    promise: 'leaves those with this in their name, whatever its case',
    body: { name: 'ADA' },
    names: ["ada's", 'Ada'],
    alsoCounts: true,
  },
  { field: 'limit', promise: 'is how many are given at most', body: { limit: 1 }, names: ["ada's"] },
  { field: 'offset', promise: 'is how many are passed over', body: { offset: 2 }, names: ['Ada'] },
  {
    field: 'sort_by',
    promise: 'is the field they are ordered by',
    body: { sort_by: 'graph_id', sort_order: 'asc', limit: 1 },
    names: ["ada's"],
  },
  {
    field: 'sort_order',
    promise: 'is the direction of the order',
    body: { sort_by: 'created_at', sort_order: 'asc' },
    names: ['Ada', 'Bob', "ada's"],
  },
];

/** Creates the three, and returns the metadata that only they have. */
async function threeAssistants(way: ServerConnection): Promise<object> {
  const metadata = { parity: randomUUID() };
  await create(way, { name: 'Ada', metadata });
  await create(way, { name: 'Bob', metadata });
  await create(way, { name: "ada's", graph_id: 'chat', metadata });
  return metadata;
}

const searching: ParityCase[] = [
  ...searchFields.map(({ field, promise, body, names, alsoCounts }) =>
    fieldCase({
      operations: ['searchAssistants', ...(alsoCounts ? ['countAssistants'] : [])],
      field: `body.${field}`,
      promise,
      run: async (ctx) => {
        const metadata = await threeAssistants(ctx.direct);
        const found = (await ctx.call(ctx.operation, { body: { metadata, ...body } })).body;
        if (ctx.operation === 'countAssistants') expect(found).toBe(names.length);
        else expect(found.map(({ name }: { name: string }) => name)).toEqual(names);
      },
    }),
  ),
  fieldCase({
    operations: ['searchAssistants', 'countAssistants'],
    field: 'body.metadata',
    promise: 'leaves those whose metadata holds it',
    run: async (ctx) => {
      const metadata = await threeAssistants(ctx.direct);
      const { body, headers } = await ctx.call(ctx.operation, { body: { metadata } });
      expect(ctx.operation === 'countAssistants' ? body : body.length).toBe(3);
      if (ctx.operation === 'searchAssistants') expect(headers.get('x-pagination-total')).toBe('3');
    },
  }),
  fieldCase({
    operations: ['searchAssistants'],
    field: 'body.select',
    promise: 'is the fields that are given',
    run: async (ctx) => {
      const metadata = await threeAssistants(ctx.direct);
      const body = { metadata, select: ['name', 'version'], name: 'Bob' };
      expect((await ctx.call('searchAssistants', { body })).body).toEqual([{ name: 'Bob', version: 1 }]);
    },
  }),
];

/** Creates an assistant with the versions 1, 2 and 3. */
async function threeVersions(way: ServerConnection): Promise<{ assistant_id: string }> {
  const { assistant_id } = await create(way, { metadata: { step: 1 } });
  for (const step of [2, 3]) await patch(way, assistant_id, { metadata: { step } });
  return { assistant_id };
}

const listFields: { field: string; promise: string; body: object; versions: number[] }[] = [
  {
    field: 'metadata',
    promise: 'leaves the versions whose metadata holds it',
    body: { metadata: { step: 2 } },
    versions: [2],
  },
  { field: 'limit', promise: 'is how many are given at most', body: { limit: 2 }, versions: [3, 2] },
  { field: 'offset', promise: 'is how many are passed over', body: { offset: 1 }, versions: [2, 1] },
];

const versions: ParityCase[] = [
  ...listFields.map(({ field, promise, body, versions }) =>
    fieldCase({
      operations: ['listAssistantVersions'],
      field: `body.${field}`,
      promise,
      run: async (ctx) => {
        const params = await threeVersions(ctx.direct);
        const listed = (await ctx.call('listAssistantVersions', { params, body })).body;
        expect(listed.map(({ version }: { version: number }) => version)).toEqual(versions);
      },
    }),
  ),
  ...(['body', 'query'] as const).map((place) =>
    fieldCase({
      operations: ['setLatestAssistantVersion'],
      field: `${place}.version`,
      promise: 'is the version that counts again, with all it had',
      run: async (ctx) => {
        const params = await threeVersions(ctx.direct);
        const request = place === 'body' ? { body: { version: 1 } } : { query: { version: 1 } };
        const { status, body } = await ctx.call('setLatestAssistantVersion', { params, ...request });
        expect([status, body.version, body.metadata]).toEqual([200, 1, { step: 1 }]);
      },
    }),
  ),
];

const deleting: ParityCase[] = [
  fieldCase({
    operations: ['deleteAssistant'],
    field: 'query.delete_threads',
    promise: 'takes the threads of the assistant too',
    run: async (ctx) => {
      const { assistant_id } = await create(ctx.direct);
      const { body: thread } = await ctx.direct.call('createThread', { body: { metadata: { assistant_id } } });
      const request = { params: { assistant_id }, query: { delete_threads: 'true' } };
      expect((await ctx.call('deleteAssistant', request)).status).toBe(204);
      const params = { thread_id: thread.thread_id };
      expect((await ctx.direct.call('getThread', { params })).status).toBe(404);
    },
  }),
  answerCase('deleteAssistant', 403, 'the default assistant of a graph is everybody’s and cannot be deleted', {
    params: { assistant_id: 'echo' },
  }),
];

const assembly = { assistant_id: 'assembly' };
const keysOf = async (ctx: ParityContext, request: ParityRequest) =>
  Object.keys((await ctx.call(ctx.operation, request)).body);

const looking: ParityCase[] = [
  fieldCase({
    operations: ['getAssistantGraph'],
    field: 'query.xray',
    promise: 'shows the graphs inside nodes, all of them or down to a depth',
    run: async (ctx) => {
      const ids = async (xray: string) =>
        (await ctx.call('getAssistantGraph', { params: assembly, query: { xray } })).body.nodes.map(
          ({ id }: { id: string }) => id,
        );
      expect(await ids('1')).toContain('outer:inner');
      expect(await ids('true')).toContain('outer:inner:drill');
    },
  }),
  fieldCase({
    operations: ['getAssistantSubgraphs'],
    field: 'query.recurse',
    promise: 'tells the subgraphs of subgraphs too',
    run: async (ctx) =>
      expect(await keysOf(ctx, { params: assembly, query: { recurse: 'true' } })).toEqual(['outer', 'outer|inner']),
  }),
  fieldCase({
    operations: ['getAssistantSubgraphsIn'],
    field: 'query.recurse',
    promise: 'looks for the namespace inside subgraphs too',
    run: async (ctx) => {
      const params = { ...assembly, namespace: 'outer|inner' };
      expect(await keysOf(ctx, { params, query: { recurse: 'true' } })).toEqual(['outer|inner']);
    },
  }),
];

const both = { config: { configurable: { a: 1 } }, context: { b: 1 } };
const noAssistant = { params: { assistant_id: 'nobody' } };

const statuses: ParityCase[] = [
  answerCase('createAssistant', 400, 'refuses configurable and context together', {
    body: { graph_id: 'echo', ...both },
  }),
  answerCase('createAssistant', 404, 'names the graphs there are', { body: { graph_id: 'zap' } }),
  answerCase('createAssistant', 409, 'refuses an id that is taken', async (ctx) => {
    const { assistant_id } = await create(ctx.direct);
    return { body: { graph_id: 'echo', assistant_id } };
  }),
  answerCase('getAssistant', 200, 'takes the name of a graph for its default assistant', { params: assembly }),
  answerCase('getAssistant', 422, 'refuses what is neither an id nor a graph', noAssistant),
  answerCase('patchAssistant', 400, 'refuses configurable and context together', async (ctx) => {
    const { assistant_id } = await create(ctx.direct);
    return { params: { assistant_id }, body: both };
  }),
  answerCase('getAssistantGraph', 422, 'refuses an xray of nothing', { params: assembly, query: { xray: '0' } }),
  statusCase({
    operation: 'getAssistantSchemas',
    status: 200,
    promise: 'tells what the graph takes, gives, keeps and is configured with',
    run: async (ctx) => {
      const answer = await ctx.call('getAssistantSchemas', { params: assembly });
      const screws = { properties: { screws: { type: 'number', description: 'How many were turned.' } } };
      const pace = { properties: { pace: { enum: ['slow', 'fast'] } } };
      expect(answer.body).toMatchObject({
        graph_id: 'assembly',
        input_schema: screws,
        output_schema: screws,
        state_schema: screws,
        config_schema: pace,
        context_schema: pace,
      });
      return answer;
    },
  }),
  statusCase({
    operation: 'getAssistantSummary',
    status: 200,
    promise: 'names what the input may have, and the tools',
    run: async (ctx) => {
      const answer = await ctx.call('getAssistantSummary', { params: assembly });
      expect(answer.body).toEqual({ graph_id: 'assembly', input_keys: ['screws'], tools: [] });
      return answer;
    },
  }),
  answerCase('getAssistantSummary', 422, 'refuses what is neither an id nor a graph', noAssistant),
  answerCase('getAssistantSchemas', 422, 'refuses what is neither an id nor a graph', noAssistant),
];

export const cases: ParityCase[] = [
  ...content,
  ...running,
  ...creating,
  ...searching,
  ...versions,
  ...deleting,
  ...looking,
  ...statuses,
];
