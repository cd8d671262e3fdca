import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { stringEnum } from '../agent-server/parts.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { HISTORY_ERROR_RESPONSES, HISTORY_TAG } from './responses.ts';

/** The fields by which usage is told apart. */
const USAGE_GROUPS = ['deployment', 'assistant', 'creator', 'key', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Rows of one file. */
export const USAGE_FILE_ROWS_MAX = 100_000;

const UsageStep = stringEnum(['hour', 'day', 'month', 'all'], {
  description:
    'The times, in UTC, that usage is summed up by; `all` is the whole time. Hours are kept for 14 days unless configured otherwise, days for 400.',
});

const Group = stringEnum([...USAGE_GROUPS]);
const texts = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 100, description }));

const selection = {
  /** Inclusive; the hour, or the day for other steps, that it is in counts whole. */
  start_time: Type.String({ format: 'date-time' }),
  /** Exclusive; the hour or the day that it is in counts whole. Default: now. */
  end_time: Type.Optional(Type.String({ format: 'date-time' })),
  step: UsageStep,
  group_by: Type.Optional(
    Type.Array(Group, {
      maxItems: USAGE_GROUPS.length,
      uniqueItems: true,
      description:
        '`creator` is a person, an end user as the project calls them, a service key or a cron; `key` the key of the platform.',
    }),
  ),
  deployment_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 100 })),
  assistant_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 100 })),
  creators: texts('Identities of the platform, or users as the project calls them.'),
  key_ids: texts('Keys by which the runs were made.'),
  models: texts('Names of models.'),
};

export const UsageRequest = Type.Object(
  { ...selection, limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 200 }) },
  { $id: 'UsageRequest' },
);
export type UsageRequest = Static<typeof UsageRequest>;

export const UsageFileRequest = Type.Object(selection, { $id: 'UsageFileRequest' });
export type UsageFileRequest = Static<typeof UsageFileRequest>;

const figures = {
  /** Runs that were created. In rows of a model 0: a run may call several, or none. */
  runs: Type.Integer(),
  model_calls: Type.Integer(),
  /** In rows of a model 0. */
  tool_calls: Type.Integer(),
  /** Those of the cache too. */
  input_tokens: Type.Integer(),
  /** Those of reasoning too. */
  output_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cache_read_tokens: Type.Integer(),
  cache_creation_tokens: Type.Integer(),
  reasoning_tokens: Type.Integer(),
};
const UsageFigures = Type.Object(figures);
export type UsageFigures = Static<typeof UsageFigures>;

/** A row has the fields that it was asked to be grouped by. */
const UsageRow = Type.Object(
  {
    /** The start of the hour, the day or the month; null for the whole time. */
    time: Nullable(Timestamp),
    deployment_id: Type.Optional(Uuid),
    assistant_id: Type.Optional(Uuid),
    /** Null: not known. */
    creator: Type.Optional(Nullable(Type.Object({ kind: Type.String(), identity: Type.String() }))),
    /** Null: by no key of the platform, or not known. */
    key_id: Type.Optional(Nullable(Type.String())),
    /** Null: the runs and the calls of tools, which belong to no model. */
    model: Type.Optional(Nullable(Type.Object({ provider: Type.String(), model: Type.String() }))),
    ...figures,
  },
  { $id: 'UsageRow' },
);
export type UsageRow = Static<typeof UsageRow>;

export const Usage = Type.Object(
  {
    /** By time, oldest first, and then by tokens, most first. */
    rows: Type.Array(UsageRow),
    /** All that was selected, also what is in no row of this answer. */
    total: UsageFigures,
    /** False when there are more rows than `limit`. */
    is_complete: Type.Boolean(),
  },
  { $id: 'Usage' },
);
export type Usage = Static<typeof Usage>;

const exampleFigures: UsageFigures = {
  runs: 120,
  model_calls: 240,
  tool_calls: 96,
  input_tokens: 220_800,
  output_tokens: 25_440,
  total_tokens: 246_240,
  cache_read_tokens: 122_880,
  cache_creation_tokens: 0,
  reasoning_tokens: 7680,
};
const exampleRequest = { start_time: '2026-11-01T00:00:00Z', step: 'day' as const, group_by: ['key' as const] };

export const readUsage = defineOperation({
  operationId: 'readUsage',
  method: 'post',
  path: '/v2/runs/usage',
  summary: 'Runs, calls and tokens of a workspace, by time and by who has used them.',
  tags: [HISTORY_TAG],
  access: 'principal',
  permission: 'runs:read',
  body: UsageRequest,
  responses: {
    200: {
      description: 'The rows, and their sum.',
      schema: Usage,
      example: {
        rows: [{ time: '2026-11-20T00:00:00.000Z', key_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c004', ...exampleFigures }],
        total: exampleFigures,
        is_complete: true,
      },
    },
    ...HISTORY_ERROR_RESPONSES,
  },
  examples: { body: { ...exampleRequest, limit: 20 } },
});

export const exportUsage = defineOperation({
  operationId: 'exportUsage',
  method: 'post',
  path: '/v2/runs/usage/csv',
  summary: 'The same as a file of comma-separated values, for spreadsheets and bills.',
  tags: [HISTORY_TAG],
  access: 'principal',
  permission: 'runs:read',
  body: UsageFileRequest,
  responses: {
    200: {
      description: 'A head, and a line for each row. More than 100,000 rows are refused: ask for a shorter time.',
      contentType: 'text/csv',
      schema: Type.String(),
    },
    ...HISTORY_ERROR_RESPONSES,
  },
  examples: { body: exampleRequest },
});
