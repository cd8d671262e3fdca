import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { ModelUsage, ToolUsage } from '../../run-usage.ts';
import { RunStatus } from '../agent-server/parts.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { HISTORY_ERROR_RESPONSES, HISTORY_TAG, RunNotFoundResponse } from './responses.ts';

/** A run as the journal has it: what its events said, kept longer than the run itself. */
export const JournalRun = Type.Object(
  {
    run_id: Uuid,
    deployment_id: Uuid,
    thread_id: Uuid,
    assistant_id: Uuid,
    /** Null: the journal has no event of its creation. */
    graph_id: Nullable(Type.String()),
    /** The revision that executed its newest attempt; null before the first one, or where it is not known. */
    revision_id: Nullable(Uuid),
    /** The cron that made it. */
    cron_id: Nullable(Uuid),
    status: RunStatus,
    /** The number of its newest attempt; 0 before the first one. */
    attempt: Type.Integer(),
    /** Null: the journal has no event of its creation, which was lost or is older than the journal. */
    created_at: Nullable(Timestamp),
    /** The start of its first attempt; null before, and where the journal has no event of it. */
    started_at: Nullable(Timestamp),
    ended_at: Nullable(Timestamp),
    /** Milliseconds from its creation to the start of its first attempt. */
    queue_ms: Nullable(Type.Integer()),
    /** Milliseconds from the start of its first attempt to its end. */
    duration_ms: Nullable(Type.Integer()),
    error: Nullable(
      Type.Object({
        error: Type.String({ description: 'Its class: `ValueError`.' }),
        message: Type.String({ description: 'At most 2,000 characters.' }),
      }),
    ),
    /** The cancel order that somebody gave: `interrupt` or `rollback`. */
    cancel_action: Nullable(Type.String()),
    /** The metadata of the run; null above 4 KiB. Values that the project encrypts are encrypted here too. */
    metadata: Nullable(JsonObject),
    /** Its maker. */
    creator: Nullable(
      Type.Object({
        kind: Type.String({ description: '`service_key`, `personal_token`, `session`, `project_user`, `cron`, …' }),
        identity: Type.String(),
        key_id: Nullable(Type.String()),
      }),
    ),
    /** The sum of its attempts so far; null while it has called neither models nor tools. */
    usage: Nullable(
      Type.Object({
        model_calls: Type.Integer(),
        tool_calls: Type.Integer(),
        input_tokens: Type.Integer(),
        output_tokens: Type.Integer(),
        total_tokens: Type.Integer(),
      }),
    ),
  },
  { $id: 'JournalRun' },
);
export type JournalRun = Static<typeof JournalRun>;

const RunAttempt = Type.Object({
  attempt: Type.Integer(),
  started_at: Nullable(Timestamp),
  ended_at: Nullable(Timestamp),
  outcome: Nullable(
    Type.String({
      description:
        '`worker_lost`, `failed` or `handed_over` where another attempt followed; else the status of the run. Null while it goes on.',
    }),
  ),
});

/** A run with its attempts, oldest first, and the models and tools that all of them have called. */
export const JournalRunDetail = Type.Object(
  {
    ...JournalRun.properties,
    attempts: Type.Array(RunAttempt),
    models: Type.Array(ModelUsage),
    tools: Type.Array(ToolUsage),
  },
  { $id: 'JournalRunDetail' },
);
export type JournalRunDetail = Static<typeof JournalRunDetail>;

const ids = (description: string) => Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 100, description }));
const texts = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 100, description }));
const milliseconds = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description }));

/** Runs have to have all of it together; of a list they have one. */
export const RunFilters = {
  deployment_ids: ids('Ones that the caller may not see count as missing.'),
  thread_ids: ids('Of stateless runs too.'),
  assistant_ids: ids('Their assistants.'),
  revision_ids: ids('The revision that executed the newest attempt.'),
  cron_ids: ids('The crons that made them.'),
  graph_ids: texts('Their graphs.'),
  statuses: Type.Optional(Type.Array(RunStatus, { minItems: 1, maxItems: 10 })),
  creators: texts('Identities of the platform, or users as the project calls them.'),
  key_ids: texts('Keys by which they were made.'),
  metadata: Type.Optional(
    Type.Record(Type.String({ maxLength: 255 }), Type.Unknown(), {
      maxProperties: 20,
      description: 'Their metadata contain this.',
    }),
  ),
  error: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Words that the class or the message of the error has, in any order. Case does not matter.',
    }),
  ),
  created_after: Type.Optional(Type.String({ format: 'date-time', description: 'Inclusive.' })),
  created_before: Type.Optional(Type.String({ format: 'date-time', description: 'Exclusive.' })),
  min_duration_ms: milliseconds('Their duration at least.'),
  max_duration_ms: milliseconds('Their duration at most.'),
  min_queue_ms: milliseconds('The time at least that they waited for a worker.'),
  min_total_tokens: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2 ** 53 - 1, description: 'Tokens at least that they have used.' }),
  ),
};
const Filters = Type.Object(RunFilters);
export type RunFilters = Static<typeof Filters>;

export const RunSearchRequest = Type.Object(
  {
    ...RunFilters,
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: '`next_cursor` of the page before.' })),
  },
  { $id: 'RunSearchRequest' },
);
export type RunSearchRequest = Static<typeof RunSearchRequest>;

export const RunSearchPage = Type.Object(
  {
    /** Newest first. */
    runs: Type.Array(JournalRun),
    /**
     * Leads to the next page; null on the last. A page may have fewer runs than its limit, or none, and still have one:
     * a search that looks at many runs for few answers what it has found so far.
     */
    next_cursor: Nullable(Type.String()),
  },
  { $id: 'RunSearchPage' },
);
export type RunSearchPage = Static<typeof RunSearchPage>;

const exampleRun: JournalRun = {
  run_id: '0199f0a4-3b5e-7c61-9d2f-5a7e8f9b0c04',
  deployment_id: 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03',
  thread_id: '0199f0a4-3b50-7a11-8c3e-4b6d7e8f9a05',
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
  graph_id: 'agent',
  revision_id: 'e4f5a6b7-c8d9-4e0f-8a1b-2c3d4e5f6a07',
  cron_id: null,
  status: 'error',
  attempt: 2,
  created_at: '2026-11-20T12:00:00.000Z',
  started_at: '2026-11-20T12:00:00.012Z',
  ended_at: '2026-11-20T12:00:04.100Z',
  queue_ms: 12,
  duration_ms: 4088,
  error: { error: 'ValueError', message: 'no such customer' },
  cancel_action: null,
  metadata: { customer: 'c-42' },
  creator: {
    kind: 'service_key',
    identity: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c002',
    key_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c004',
  },
  usage: { model_calls: 2, tool_calls: 1, input_tokens: 1840, output_tokens: 212, total_tokens: 2052 },
};

const filterExample = {
  statuses: ['error'] as ['error'],
  error: 'customer',
  created_after: '2026-11-20T00:00:00Z',
};

export const searchRuns = defineOperation({
  operationId: 'searchRunHistory',
  method: 'post',
  path: '/v2/runs/search',
  summary: 'The runs of a workspace, across its threads and deployments, newest first.',
  tags: [HISTORY_TAG],
  access: 'principal',
  permission: 'runs:read',
  body: RunSearchRequest,
  bodyOptional: true,
  responses: {
    200: {
      description: 'A page of them.',
      schema: RunSearchPage,
      example: { runs: [exampleRun], next_cursor: '0199f0a4-3b5e-7c61-9d2f-5a7e8f9b0c04' },
    },
    ...HISTORY_ERROR_RESPONSES,
  },
  examples: { body: { ...filterExample, limit: 20 } },
});

export const getRunOfHistory = defineOperation({
  operationId: 'getRunOfHistory',
  method: 'get',
  path: '/v2/runs/{run_id}',
  summary: 'A run with its attempts, and the models and tools that it has called.',
  tags: [HISTORY_TAG],
  access: 'principal',
  permission: 'runs:read',
  params: Type.Object({ run_id: Uuid }),
  responses: {
    200: {
      description: 'The run.',
      schema: JournalRunDetail,
      example: {
        ...exampleRun,
        attempts: [
          {
            attempt: 1,
            started_at: '2026-11-20T12:00:00.012Z',
            ended_at: '2026-11-20T12:00:03.000Z',
            outcome: 'worker_lost',
          },
          {
            attempt: 2,
            started_at: '2026-11-20T12:00:03.020Z',
            ended_at: '2026-11-20T12:00:04.100Z',
            outcome: 'error',
          },
        ],
        models: [
          {
            provider: 'openai',
            model: 'gpt-5-mini',
            calls: 2,
            failed: 0,
            input_tokens: 1840,
            output_tokens: 212,
            cache_read_tokens: 1024,
            cache_creation_tokens: 0,
            reasoning_tokens: 64,
          },
        ],
        tools: [{ name: 'find_customer', calls: 1, failed: 1 }],
      },
    },
    404: RunNotFoundResponse,
    ...HISTORY_ERROR_RESPONSES,
  },
});

/** The fields whose values are counted. */
export const FACETS = ['status', 'deployment_id', 'graph_id', 'assistant_id', 'revision_id', 'error'] as const;
export type Facet = (typeof FACETS)[number];

const FacetValues = Type.Array(
  Type.Object({
    value: Type.String({ description: 'Of `error` the class.' }),
    runs: Type.Integer(),
  }),
  { maxItems: 50 },
);

export const RunFacets = Type.Object(
  {
    /** The most frequent values of each field, at most 50. */
    facets: Type.Object({
      status: FacetValues,
      deployment_id: FacetValues,
      graph_id: FacetValues,
      assistant_id: FacetValues,
      revision_id: FacetValues,
      error: FacetValues,
    }),
    /** The number of runs that were counted. */
    runs: Type.Integer(),
    /** False when there are more: the newest ones were counted. */
    is_complete: Type.Boolean(),
  },
  { $id: 'RunFacets' },
);
export type RunFacets = Static<typeof RunFacets>;

export const RunFacetsRequest = Type.Object(RunFilters, { $id: 'RunFacetsRequest' });
export type RunFacetsRequest = Static<typeof RunFacetsRequest>;

export const countRunFacets = defineOperation({
  operationId: 'countRunFacets',
  method: 'post',
  path: '/v2/runs/facets',
  summary: 'How many of the runs that a search finds have which status, deployment, graph, assistant, revision, error.',
  tags: [HISTORY_TAG],
  access: 'principal',
  permission: 'runs:read',
  body: RunFacetsRequest,
  bodyOptional: true,
  responses: {
    200: {
      description: 'The numbers, of the newest runs where there are many.',
      schema: RunFacets,
      example: {
        facets: {
          status: [{ value: 'error', runs: 12 }],
          deployment_id: [{ value: exampleRun.deployment_id, runs: 12 }],
          graph_id: [{ value: 'agent', runs: 12 }],
          assistant_id: [{ value: exampleRun.assistant_id, runs: 12 }],
          revision_id: [{ value: 'e4f5a6b7-c8d9-4e0f-8a1b-2c3d4e5f6a07', runs: 12 }],
          error: [{ value: 'ValueError', runs: 12 }],
        },
        runs: 12,
        is_complete: true,
      },
    },
    ...HISTORY_ERROR_RESPONSES,
  },
  examples: { body: filterExample },
});
