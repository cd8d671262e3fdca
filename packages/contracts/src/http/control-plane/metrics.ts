import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp } from '../common.ts';
import { DeploymentParams } from './deployments.ts';
import { LogTime } from './logs.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';

const Gauge = Nullable(Type.Number());

/**
 * The metrics of a deployment since the previous point. Null: it could not be measured, or there was nothing to count.
 */
export const DeploymentMetricsPoint = Type.Object(
  {
    time: Timestamp,
    /** Processes that answer. */
    agent_api_replicas: Gauge,
    run_worker_replicas: Gauge,
    /** Cores that all of them use, including the project's code. */
    agent_api_cpu_cores: Gauge,
    run_worker_cpu_cores: Gauge,
    /** Resident memory of all of them, including the project's code. */
    agent_api_memory_bytes: Gauge,
    run_worker_memory_bytes: Gauge,
    /** Processes that exited unexpectedly and were restarted. */
    restarts: Gauge,
    pending_runs: Gauge,
    active_runs: Gauge,
    /** Number of runs that can be active at once. */
    run_slots: Gauge,
    /** Attempts that succeeded, and runs that ended in an error. */
    runs_succeeded: Gauge,
    runs_failed: Gauge,
    /** Milliseconds from claim to end of an attempt. */
    run_latency_ms_p50: Gauge,
    run_latency_ms_p95: Gauge,
    /** HTTP requests that were answered, and those of them with a 5xx status. */
    requests: Gauge,
    request_errors: Gauge,
    /** Milliseconds to the end of the answer: a stream counts with its whole duration. */
    request_latency_ms_p50: Gauge,
    request_latency_ms_p95: Gauge,
    database_bytes: Gauge,
    database_connections: Gauge,
  },
  { $id: 'DeploymentMetricsPoint' },
);
export type DeploymentMetricsPoint = Static<typeof DeploymentMetricsPoint>;

export const DeploymentMetrics = Type.Object(
  {
    start_time: Timestamp,
    end_time: Timestamp,
    /** Seconds from one point to the next; times without measurements have no point. */
    step_seconds: Type.Integer(),
    /** Points, oldest first. */
    points: Type.Array(DeploymentMetricsPoint),
  },
  { $id: 'DeploymentMetrics' },
);
export type DeploymentMetrics = Static<typeof DeploymentMetrics>;

const examplePoint: DeploymentMetricsPoint = {
  time: '2026-11-20T12:00:15.000Z',
  agent_api_replicas: 1,
  run_worker_replicas: 2,
  agent_api_cpu_cores: 0.12,
  run_worker_cpu_cores: 1.4,
  agent_api_memory_bytes: 310_000_000,
  run_worker_memory_bytes: 640_000_000,
  restarts: 0,
  pending_runs: 14,
  active_runs: 20,
  run_slots: 20,
  runs_succeeded: 61,
  runs_failed: 1,
  run_latency_ms_p50: 840,
  run_latency_ms_p95: 4100,
  requests: 212,
  request_errors: 0,
  request_latency_ms_p50: 21,
  request_latency_ms_p95: 930,
  database_bytes: 48_300_000,
  database_connections: 17,
};

export const getDeploymentMetrics = defineOperation({
  operationId: 'getDeploymentMetrics',
  method: 'get',
  path: '/v2/deployments/{deployment_id}/metrics',
  summary: 'What a deployment used and did, over time: the last fifteen minutes, unless told otherwise.',
  tags: ['metrics (v2)'],
  access: 'principal',
  permission: 'deployments:read',
  params: DeploymentParams,
  query: Type.Object({ start_time: Type.Optional(LogTime), end_time: Type.Optional(LogTime) }),
  responses: {
    200: {
      description: 'The points.',
      schema: DeploymentMetrics,
      example: {
        start_time: '2026-11-20T12:00:00.000Z',
        end_time: '2026-11-20T12:15:00.000Z',
        step_seconds: 15,
        points: [examplePoint],
      },
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: NotFoundResponse,
    422: InvalidResponse,
  },
});
