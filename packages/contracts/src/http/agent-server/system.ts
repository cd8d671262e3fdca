import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse } from '../common.ts';

export const ServerInfo = Type.Object(
  {
    version: Type.String({ description: 'The level of the agent server API that is matched, `0.x.y`.' }),
    langgraph_py_version: Type.Union([Type.String(), Type.Null()], {
      description: 'The release of LangGraph of a project in Python; null for one in JavaScript.',
    }),
    runyard_version: Type.String(),
    flags: Type.Object({
      assistants: Type.Boolean(),
      crons: Type.Boolean(),
      langsmith: Type.Boolean(),
      langsmith_tracing_replicas: Type.Boolean(),
      langsmith_tracing_session_on_runs: Type.Boolean(),
    }),
    host: Type.Object({
      kind: Type.String(),
      project_id: Type.Union([Type.String(), Type.Null()], { description: 'The deployment.' }),
      host_revision_id: Type.Union([Type.String(), Type.Null()]),
      revision_id: Type.Union([Type.String(), Type.Null()]),
      tenant_id: Type.Union([Type.String(), Type.Null()], { description: 'The workspace.' }),
    }),
    metadata: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'ServerInfo' },
);
export type ServerInfo = Static<typeof ServerInfo>;

export const getInfo = defineOperation({
  operationId: 'getInfo',
  method: 'get',
  path: '/info',
  permission: 'runs:read',
  summary: 'What this server is and can do',
  tags: ['System'],
  access: 'principal',
  responses: {
    200: {
      description: 'The server.',
      schema: ServerInfo,
      example: {
        version: '0.16.7',
        langgraph_py_version: null,
        runyard_version: '0.1.0',
        flags: {
          assistants: true,
          crons: true,
          langsmith: false,
          langsmith_tracing_replicas: true,
          langsmith_tracing_session_on_runs: false,
        },
        host: { kind: 'self-hosted', project_id: null, host_revision_id: null, revision_id: null, tenant_id: null },
        metadata: {},
      },
    },
  },
});

const Health = Type.Object(
  {
    ok: Type.Boolean(),
    services: Type.Record(Type.String(), Type.String(), {
      description: 'What the server leans on, each `ok` or what is wrong with it; empty unless asked for.',
    }),
  },
  { $id: 'Health' },
);

const health = {
  method: 'get' as const,
  tags: ['System'],
  access: 'public' as const,
  query: Type.Object({
    check_db: Type.Optional(
      Type.String({
        maxLength: 100,
        description: '`1` or `true`: is it ready? 503 with `detail` while it is not, and else `services`.',
      }),
    ),
  }),
  responses: {
    200: { description: 'It is alive, or with `check_db` ready.', schema: Health, example: { ok: true, services: {} } },
  },
  examples: { query: { check_db: '1' } },
};

export const getHealth = defineOperation({ ...health, operationId: 'getHealth', path: '/ok', summary: 'Is it alive?' });
export const getRoot = defineOperation({ ...health, operationId: 'getRoot', path: '/', summary: 'The same as `/ok`' });

export const getMetrics = defineOperation({
  operationId: 'getMetrics',
  method: 'get',
  path: '/metrics',
  summary: 'Queue, workers, pools and requests in numbers',
  tags: ['System'],
  access: 'public',
  query: Type.Object({
    format: Type.Optional(
      Type.Union([Type.Literal('prometheus'), Type.Literal('json')], {
        description: 'Default `prometheus`, as text; `json` is `application/json`.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The metrics. What only the database knows is left out while it is away.',
      contentType: 'text/plain',
      schema: Type.String(),
      otherContentTypes: { 'application/json': Type.Record(Type.String(), Type.Unknown()) },
      example: 'lg_api_num_pending_runs{project_id="local",revision_id="",deployment_type="self-hosted"} 0\n',
    },
    422: { description: 'There is no such format.', schema: ErrorResponse },
  },
  examples: { query: { format: 'prometheus' } },
});

const getOpenApi = defineOperation({
  operationId: 'getOpenApi',
  method: 'get',
  path: '/openapi.json',
  summary: 'This description',
  tags: ['System'],
  access: 'public',
  responses: { 200: { description: 'An OpenAPI document.', schema: Type.Record(Type.String(), Type.Unknown()) } },
});

const getDocs = defineOperation({
  operationId: 'getDocs',
  method: 'get',
  path: '/docs',
  summary: 'This description, to be read',
  tags: ['System'],
  access: 'public',
  responses: { 200: { description: 'A page.', contentType: 'text/html', schema: Type.String() } },
});

export const SYSTEM_OPERATIONS = [getInfo, getHealth, getRoot, getMetrics, getOpenApi, getDocs];
