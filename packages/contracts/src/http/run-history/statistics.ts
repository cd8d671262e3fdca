import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { HISTORY_ERROR_RESPONSES, HISTORY_TAG } from './responses.ts';

/** Points of one answer. */
export const STATISTICS_POINTS_MAX = 1_500;

export const StatisticsStep = Type.Union([Type.Literal('minute'), Type.Literal('day')], { $id: 'StatisticsStep' });
export type StatisticsStep = Static<typeof StatisticsStep>;

/** Milliseconds, within 5% of the measured ones. Null: there were none. */
const Percentiles = Type.Object({
  p50: Nullable(Type.Integer()),
  p95: Nullable(Type.Integer()),
  p99: Nullable(Type.Integer()),
});

/** Numbers of a minute or a day (UTC). Times without any run have no point. */
const RunStatisticsPoint = Type.Object(
  {
    time: Timestamp,
    /** Runs that were created. */
    created: Type.Integer(),
    /** Runs that ended, by their status. */
    success: Type.Integer(),
    error: Type.Integer(),
    timeout: Type.Integer(),
    interrupted: Type.Integer(),
    /** Attempts that ended, and were followed by others. */
    retried: Type.Integer(),
    /** Tokens that models took and gave. */
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    /** From the start of the first attempt to the end, of runs that ended. */
    duration_ms: Percentiles,
    /** From the creation to the start of the first attempt, of runs that started. */
    queue_ms: Percentiles,
  },
  { $id: 'RunStatisticsPoint' },
);

export const RunStatisticsRequest = Type.Object(
  {
    /** Inclusive; the minute or day that it is in counts whole. */
    start_time: Type.String({ format: 'date-time' }),
    /** Exclusive; the minute or day that it is in counts whole. Default: now. */
    end_time: Type.Optional(Type.String({ format: 'date-time' })),
    step: StatisticsStep,
    deployment_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 100 })),
    graph_ids: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 100 })),
  },
  { $id: 'RunStatisticsRequest' },
);
export type RunStatisticsRequest = Static<typeof RunStatisticsRequest>;

export const RunStatistics = Type.Object(
  {
    /** Oldest first. */
    points: Type.Array(RunStatisticsPoint),
    /** The same of the whole time. */
    total: Type.Omit(RunStatisticsPoint, ['time']),
  },
  { $id: 'RunStatistics' },
);
export type RunStatistics = Static<typeof RunStatistics>;

const exampleFigures = {
  created: 120,
  success: 110,
  error: 4,
  timeout: 0,
  interrupted: 2,
  retried: 1,
  input_tokens: 220_800,
  output_tokens: 25_440,
  duration_ms: { p50: 840, p95: 4100, p99: 9800 },
  queue_ms: { p50: 9, p95: 40, p99: 310 },
};

export const readRunStatistics = defineOperation({
  operationId: 'readRunStatistics',
  method: 'post',
  path: '/v2/runs/statistics',
  summary: 'Numbers, durations and waits of the runs of a workspace, by minute or by day.',
  tags: [HISTORY_TAG],
  access: 'principal',
  permission: 'runs:read',
  body: RunStatisticsRequest,
  responses: {
    200: {
      description: 'The points, and their sum.',
      schema: RunStatistics,
      example: { points: [{ time: '2026-11-20T12:00:00.000Z', ...exampleFigures }], total: exampleFigures },
    },
    ...HISTORY_ERROR_RESPONSES,
  },
  examples: { body: { start_time: '2026-11-20T00:00:00Z', end_time: '2026-11-21T00:00:00Z', step: 'minute' } },
});
