import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';

export const ServerInfo = Type.Object(
  {
    version: Type.String({ description: 'The level of the agent server API that is matched, `0.x.y`.' }),
    langgraph_py_version: Type.Union([Type.String(), Type.Null()]),
    runyard_version: Type.String(),
    flags: Type.Object({
      assistants: Type.Boolean(),
      crons: Type.Boolean(),
      langsmith: Type.Boolean(),
      langsmith_tracing_replicas: Type.Boolean(),
    }),
    host: Type.Object({
      kind: Type.String(),
      project_id: Type.Union([Type.String(), Type.Null()]),
      revision_id: Type.Union([Type.String(), Type.Null()]),
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
        flags: { assistants: true, crons: true, langsmith: false, langsmith_tracing_replicas: false },
        host: { kind: 'self-hosted', project_id: null, revision_id: null },
        metadata: {},
      },
    },
  },
});

export const SYSTEM_OPERATIONS = [getInfo];
