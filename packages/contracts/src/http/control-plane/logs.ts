import Type, { type Static } from 'typebox';
import { defineOperation, type Operation } from '../../operation.ts';
import { Nullable, OptionalNullable, Uuid } from '../common.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';

/** Levels in increasing order of severity. */
export const LogLevel = Type.Union(
  [
    Type.Literal('DEBUG'),
    Type.Literal('INFO'),
    Type.Literal('WARNING'),
    Type.Literal('ERROR'),
    Type.Literal('CRITICAL'),
  ],
  { $id: 'LogLevel' },
);
export type LogLevel = Static<typeof LogLevel>;

/** Output of building a revision (`build`), or of its servers (`deploy`). */
export const LogType = Type.Union([Type.Literal('build'), Type.Literal('deploy')], { $id: 'LogType' });
export type LogType = Static<typeof LogType>;

/** Order by time: oldest or newest first. */
export const LogOrder = Type.Union([Type.Literal('asc'), Type.Literal('desc')], { $id: 'LogOrder' });
export type LogOrder = Static<typeof LogOrder>;

/** A date, or a date with a time; without a zone it is UTC. */
export const LogTime = Type.Union([Type.String({ format: 'iso-date-time' }), Type.String({ format: 'date' })], {
  $id: 'LogTime',
});

export const LogEntry = Type.Object(
  {
    /** Stable and unique, so that a reader recognizes known entries. Ids sort by time. */
    id: Type.String(),
    /** The time at which the line was received, in milliseconds since 1970. */
    timestamp: Type.Integer(),
    level: LogLevel,
    message: Type.String(),
    /** The process that printed it: `build`, `agent-api`, `run-worker-2`. */
    source: Type.String(),
    revision_id: Uuid,
    /** Set for lines printed by a run's code, or about one run. */
    run_id: Type.Optional(Type.String()),
    thread_id: Type.Optional(Type.String()),
    graph_id: Type.Optional(Type.String()),
    /** Further fields that the platform's services log. */
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: 'LogEntry' },
);
export type LogEntry = Static<typeof LogEntry>;

export const LogPage = Type.Object(
  {
    logs: Type.Array(LogEntry),
    /**
     * The offset of the next page; stays valid when lines are added or removed. Null at the end. With order `asc`, a
     * page with entries always has one, so that a client can follow the log.
     */
    next_offset: Nullable(Type.String()),
  },
  { $id: 'LogPage' },
);
export type LogPage = Static<typeof LogPage>;

const LIMIT = { minimum: 1, maximum: 1000, default: 50 };
const QUERY_LENGTH = 1000;

export const LogRequest = Type.Object(
  {
    /** The order; default `asc`. */
    order: OptionalNullable(LogOrder),
    limit: OptionalNullable(Type.Integer(LIMIT)),
    /** The `next_offset` of an earlier page. */
    offset: OptionalNullable(Type.String()),
    /** This level and every more severe one. */
    level: OptionalNullable(LogLevel),
    /** A part of the message; case does not matter. */
    query: OptionalNullable(Type.String({ maxLength: QUERY_LENGTH })),
    /** Inclusive start. */
    start_time: OptionalNullable(LogTime),
    /** Inclusive end. */
    end_time: OptionalNullable(LogTime),
  },
  { $id: 'LogRequest' },
);
export type LogRequest = Static<typeof LogRequest>;

const examplePage: LogPage = {
  logs: [
    {
      id: '0192f7a0-3c1e-7000-8000-000000000001',
      timestamp: 1732104000542,
      level: 'INFO',
      message: 'looking up the weather',
      source: 'run-worker',
      revision_id: '0192f7a0-0000-7000-8000-000000000002',
      run_id: '0192f7a0-3c00-7000-8000-000000000007',
      thread_id: '0192f7a0-3b00-7000-8000-000000000006',
      graph_id: 'agent',
      fields: { from: 'project' },
    },
  ],
  next_offset: 'MDE5MmY3YTAtM2MxZS03MDAwLTgwMDAtMDAwMDAwMDAwMDAx',
};

const responses = {
  200: { description: 'A page of the log.', schema: LogPage, example: examplePage },
  401: UnauthorizedResponse,
  403: ForbiddenResponse,
  404: NotFoundResponse,
  422: InvalidResponse,
};
const example: LogRequest = { order: 'desc', limit: 100, level: 'WARNING' };
/** The common part of the operations that read logs by POST. */
const reading = {
  method: 'post' as const,
  tags: ['logs (v1)'],
  access: 'principal' as const,
  permission: 'deployments:read' as const,
  body: LogRequest,
  bodyOptional: true as const,
  responses,
  examples: { body: example },
};
const ProjectParams = Type.Object({ project_id: Uuid });
const ProjectRevisionParams = Type.Object({ project_id: Uuid, revision_id: Uuid });

export const readBuildLogs = defineOperation({
  ...reading,
  operationId: 'readBuildLogs',
  path: '/v1/projects/{project_id}/revisions/{revision_id}/build_logs',
  summary: 'What was printed while a revision was built. The project is the deployment.',
  params: ProjectRevisionParams,
});

export const readRevisionDeployLogs = defineOperation({
  ...reading,
  operationId: 'readRevisionDeployLogs',
  path: '/v1/projects/{project_id}/revisions/{revision_id}/deploy_logs',
  summary: 'What the servers of a revision print.',
  params: ProjectRevisionParams,
});

export const readDeployLogs = defineOperation({
  ...reading,
  operationId: 'readDeployLogs',
  path: '/v1/projects/{project_id}/deploy_logs',
  summary: 'What the servers of all revisions of a deployment print, in one order.',
  params: ProjectParams,
});

export const getRevisionLogs = defineOperation({
  operationId: 'getRevisionLogs',
  method: 'get',
  path: '/v2/deployments/{deployment_id}/revisions/{revision_id}/logs',
  summary: 'The log of a revision.',
  tags: ['logs (v2)'],
  access: 'principal',
  permission: 'deployments:read',
  params: Type.Object({ deployment_id: Uuid, revision_id: Uuid }),
  query: Type.Object({
    type: LogType,
    order: Type.Union([Type.Literal('asc'), Type.Literal('desc')], { default: 'asc' }),
    limit: Type.Integer(LIMIT),
    offset: Type.Optional(Type.String({ description: '`next_offset` of an earlier page.' })),
    level: Type.Optional(LogLevel),
    query: Type.Optional(Type.String({ maxLength: QUERY_LENGTH, description: 'A part of the message.' })),
    start_time: Type.Optional(LogTime),
    end_time: Type.Optional(LogTime),
    run_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only lines of this run.' })),
  }),
  responses,
  examples: { query: { type: 'deploy', order: 'desc', limit: 100, level: 'WARNING' } },
});

export const logOperations: readonly Operation[] = [
  readBuildLogs,
  readRevisionDeployLogs,
  readDeployLogs,
  getRevisionLogs,
];
