import Type, { type Static } from 'typebox';
import { defineOperation, type Operation } from '../../operation.ts';
import { ErrorResponse, Nullable, Uuid } from '../common.ts';
import { ProjectLayer } from '../internal/project-layer.ts';
import { LogEntryId, ReportedLogEntry } from './data-planes/logs.ts';
import { ForbiddenResponse, InvalidResponse } from './responses.ts';

const tags = ['builds (internal)'];

/** Path and query of a build at control-plane. Nothing else follows the base URL that a builder knows. */
export const BuildPath = Type.String({ pattern: '^/internal/builds/[0-9a-f-]{36}/[a-z]+\\?', maxLength: 1_024 });
const BuildParams = Type.Object({ revision_id: Uuid });

/** Proves that control-plane has made the URL: for one purpose, one build and one of its orders, until a time. */
export const BuildUrlQuery = Type.Object({
  epoch: Type.Integer({
    minimum: 0,
    description: 'The order that it belongs to; where orders are given, the newest one before it.',
  }),
  expires: Type.Integer({ minimum: 0, description: 'Seconds since 1970.' }),
  signature: Type.String({ minLength: 1, maxLength: 256 }),
});
export type BuildUrlQuery = Static<typeof BuildUrlQuery>;

/** The place that the code of a revision comes from. */
export const OrderedSource = Type.Union([
  Type.Object({
    kind: Type.Literal('archive'),
    /** Answers a gzipped tar archive. */
    url: BuildPath,
  }),
  Type.Object({
    kind: Type.Literal('repository'),
    url: Type.String(),
    protocol: Type.Union([Type.Literal('https'), Type.Literal('http'), Type.Literal('file')]),
    /** `host:port:address`: git connects to no other address. Null for a folder. */
    resolved: Nullable(Type.String()),
    /** `refs/heads/main`, `HEAD`, or the hash of a commit. */
    ref: Type.String(),
    /** Sent only to the repository's host. */
    token: Nullable(Type.String()),
  }),
  Type.Object({
    kind: Type.Literal('folder'),
    /** A folder of the builder's machine, which is used as it is, without a build. */
    path: Type.String(),
  }),
]);
export type OrderedSource = Static<typeof OrderedSource>;

/** The form of a build's result. */
export const OrderedResult = Type.Union([
  Type.Object({
    kind: Type.Literal('archive'),
    /** Takes the built project as a gzipped tar archive. */
    url: BuildPath,
    /** Bytes of the project, unpacked. */
    bytes_max: Type.Integer(),
  }),
  Type.Object({
    kind: Type.Literal('layer'),
    /** Permits pushing to the deployment's repository of projects at the registry, and nothing else. */
    push_token: Type.String(),
    /** The architecture of the base image: installed packages run on no other. */
    architecture: Type.String(),
  }),
]);
export type OrderedResult = Static<typeof OrderedResult>;

/** Everything that one attempt to build a revision needs. */
export const BuildOrder = Type.Object(
  {
    deployment_id: Uuid,
    revision_id: Uuid,
    source: OrderedSource,
    langgraph_config_path: Type.String(),
    install_command: Nullable(Type.String()),
    build_command: Nullable(Type.String()),
    /** The deployment's secrets, with which its graphs are loaded. Commands see those for package registries alone. */
    variables: Type.Record(Type.String(), Type.String()),
    timeout_seconds: Type.Integer({ minimum: 1 }),
    result: OrderedResult,
    report_url: BuildPath,
    end_url: BuildPath,
  },
  { $id: 'BuildOrder' },
);
export type BuildOrder = Static<typeof BuildOrder>;

export const BuildOrderAnswer = Type.Object(
  {
    /** Null: there is nothing to build (any more). */
    order: Nullable(BuildOrder),
  },
  { $id: 'BuildOrderAnswer' },
);
export type BuildOrderAnswer = Static<typeof BuildOrderAnswer>;

export const BuildReport = Type.Object(
  {
    /** The commit that was fetched. */
    commit: Type.Optional(Type.String({ pattern: '^[0-9a-f]{40,64}$', maxLength: 64 })),
    /** New lines of the log. Lines that do not follow those that are known are left out. */
    log: Type.Optional(
      Type.Object({
        /** Identifies the file by its first line. */
        first_id: LogEntryId,
        /** The line before these; null: these are the first of the file. */
        after: Nullable(LogEntryId),
        entries: Type.Array(ReportedLogEntry, { maxItems: 5_000 }),
      }),
    ),
  },
  { $id: 'BuildReport' },
);
export type BuildReport = Static<typeof BuildReport>;

export const BuildReportAnswer = Type.Object(
  {
    /** False: nobody needs the build any more, or another builder has it. */
    goes_on: Type.Boolean(),
    /** The last line of the file that is known; null: none. */
    last_id: Nullable(LogEntryId),
  },
  { $id: 'BuildReportAnswer' },
);
export type BuildReportAnswer = Static<typeof BuildReportAnswer>;

const Message = Type.String({ maxLength: 65_536 });

export const BuildEnd = Type.Union(
  [
    /** The archive was put. */
    Type.Object({ kind: Type.Literal('archive') }),
    /** The project was pushed as a layer. */
    Type.Object({ kind: Type.Literal('layer'), ...ProjectLayer.properties }),
    /** The source is at fault. */
    Type.Object({ kind: Type.Literal('failed'), message: Message }),
    /** Something that the build needs is unavailable: another attempt may succeed. */
    Type.Object({ kind: Type.Literal('unavailable'), message: Message }),
    /** The builder stops: another one goes on. */
    Type.Object({ kind: Type.Literal('stopped') }),
  ],
  { $id: 'BuildEnd' },
);
export type BuildEnd = Static<typeof BuildEnd>;

export const BuildEndAnswer = Type.Object(
  {
    /** False: the build was not needed any more, or another builder has it. */
    is_accepted: Type.Boolean(),
  },
  { $id: 'BuildEndAnswer' },
);
export type BuildEndAnswer = Static<typeof BuildEndAnswer>;

const staleResponse = {
  description: 'Another builder has the build, or nobody needs it any more.',
  schema: ErrorResponse,
  example: { detail: 'This build is not asked for any more.' },
};
const responses = { 403: ForbiddenResponse, 422: InvalidResponse };
const examples = {
  params: { revision_id: '0192f7a0-0000-7000-8000-000000000002' },
  query: { epoch: 1, expires: 1_795_262_400, signature: 'c2lnbmF0dXJl' },
};

export const orderBuild = defineOperation({
  operationId: 'orderBuild',
  method: 'post',
  path: '/internal/builds/{revision_id}/order',
  summary: 'Begins an attempt to build a revision, once. What earlier attempts send from now on is refused.',
  tags,
  access: 'public',
  params: BuildParams,
  query: BuildUrlQuery,
  responses: {
    200: {
      description: 'The order; null when there is nothing to build, or the URL has given its order.',
      schema: BuildOrderAnswer,
      example: { order: null },
    },
    409: { ...staleResponse, description: 'The builder that got the order of this URL was heard of just now.' },
    ...responses,
  },
  examples,
});

export const reportBuild = defineOperation({
  operationId: 'reportBuild',
  method: 'post',
  path: '/internal/builds/{revision_id}/report',
  summary: 'A builder is still at work, and its log goes on. A build without reports is given to another builder.',
  tags,
  access: 'public',
  params: BuildParams,
  query: BuildUrlQuery,
  body: BuildReport,
  bodyLimitBytes: 300_000,
  responses: {
    200: {
      description: 'Whether the build goes on.',
      schema: BuildReportAnswer,
      example: { goes_on: true, last_id: null },
    },
    ...responses,
  },
  examples: { ...examples, body: {} },
});

export const endBuild = defineOperation({
  operationId: 'endBuild',
  method: 'post',
  path: '/internal/builds/{revision_id}/end',
  summary: 'How an attempt to build a revision ended.',
  tags,
  access: 'public',
  params: BuildParams,
  query: BuildUrlQuery,
  body: BuildEnd,
  bodyLimitBytes: 300_000,
  responses: {
    200: { description: 'Whether it counts.', schema: BuildEndAnswer, example: { is_accepted: true } },
    ...responses,
  },
  examples: { ...examples, body: { kind: 'failed', message: '`npm ci` ended with code 1.' } },
});

export const fetchBuildSource = defineOperation({
  operationId: 'fetchBuildSource',
  method: 'get',
  path: '/internal/builds/{revision_id}/source',
  summary: 'The archive that was uploaded for a revision.',
  tags,
  access: 'public',
  params: BuildParams,
  query: BuildUrlQuery,
  responses: {
    200: { description: 'The archive.', contentType: 'application/gzip', schema: Type.String() },
    404: { description: 'It is not there any more.', schema: ErrorResponse, example: { detail: 'Archive not found.' } },
    409: staleResponse,
    ...responses,
  },
  examples,
});

export const putBuildArchive = defineOperation({
  operationId: 'putBuildArchive',
  method: 'put',
  path: '/internal/builds/{revision_id}/archive',
  summary: 'Stores a built project, as a gzipped tar archive, whole or not at all.',
  tags,
  access: 'public',
  params: BuildParams,
  query: BuildUrlQuery,
  responses: {
    200: { description: 'It is kept.' },
    409: staleResponse,
    413: {
      description: 'The archive is too large.',
      schema: ErrorResponse,
      example: { detail: 'Request body is larger than 5368709120 bytes' },
    },
    507: {
      description: 'The disk of the platform is nearly full.',
      schema: ErrorResponse,
      example: { detail: 'There is no room for it: the storage of the platform is full.' },
    },
    ...responses,
  },
  examples,
});

/** The operations that builders call. */
export const buildOperations: readonly Operation[] = [
  orderBuild,
  reportBuild,
  endBuild,
  fetchBuildSource,
  putBuildArchive,
];
