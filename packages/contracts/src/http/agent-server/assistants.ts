import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Timestamp, Uuid } from '../common.ts';
import { Limit, Offset, PAGINATION_HEADERS, QueryFlag, RunConfig, SortOrder, stringEnum } from './parts.ts';

const ASSISTANT_FIELDS = [
  'assistant_id',
  'graph_id',
  'name',
  'description',
  'config',
  'context',
  'created_at',
  'updated_at',
  'metadata',
  'version',
] as const;

export const Assistant = Type.Object(
  {
    assistant_id: Uuid,
    graph_id: Type.String(),
    name: Type.String(),
    description: Type.Union([Type.String(), Type.Null()]),
    config: RunConfig,
    context: Type.Record(Type.String(), Type.Unknown(), { description: 'The same as `config.configurable`.' }),
    metadata: JsonObject,
    version: Type.Integer({ minimum: 1 }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Assistant' },
);
export type Assistant = Static<typeof Assistant>;

export const AssistantCreate = Type.Object(
  {
    assistant_id: Type.Optional(Uuid),
    graph_id: Type.String({ description: 'One of the graphs of the project.' }),
    config: Type.Optional(RunConfig),
    context: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Another way to give `config.configurable`; only one of the two.',
      }),
    ),
    metadata: Type.Optional(JsonObject),
    if_exists: Type.Optional(stringEnum(['raise', 'do_nothing'], { default: 'raise' })),
    name: Type.Optional(Type.String({ description: 'Default `Untitled`.' })),
    description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { $id: 'AssistantCreate' },
);
export type AssistantCreate = Static<typeof AssistantCreate>;

export const AssistantPatch = Type.Object(
  {
    graph_id: Type.Optional(Type.String({ description: 'One of the graphs of the project.' })),
    config: Type.Optional(RunConfig),
    context: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Replaces the context and `config.configurable`; not together with the latter.',
      }),
    ),
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Merged over the metadata there is, key by key.' }),
    ),
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { $id: 'AssistantPatch' },
);
export type AssistantPatch = Static<typeof AssistantPatch>;

const filters = {
  metadata: Type.Optional(JsonObject),
  graph_id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String({ description: 'Part of the name, whatever its case.' })),
};

export const AssistantSearchRequest = Type.Object(
  {
    ...filters,
    limit: Type.Optional(Limit(10)),
    offset: Type.Optional(Offset),
    sort_by: Type.Optional(stringEnum(['assistant_id', 'created_at', 'updated_at', 'name', 'graph_id'])),
    sort_order: Type.Optional(SortOrder),
    select: Type.Optional(Type.Array(stringEnum([...ASSISTANT_FIELDS]))),
  },
  { $id: 'AssistantSearchRequest' },
);
export type AssistantSearchRequest = Static<typeof AssistantSearchRequest>;

export const AssistantCountRequest = Type.Object(filters, { $id: 'AssistantCountRequest' });
export type AssistantCountRequest = Static<typeof AssistantCountRequest>;

export const exampleAssistant: Assistant = {
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
  graph_id: 'echo',
  name: 'echo',
  description: null,
  config: {},
  context: {},
  metadata: { created_by: 'system' },
  version: 1,
  created_at: '2026-11-20T20:18:31.041459+00:00',
  updated_at: '2026-11-20T20:18:31.041459+00:00',
};
export const noSuchAssistant = { description: 'No such assistant or graph.', schema: ErrorResponse };
export const invalidRequest = { description: 'The request is not as described here.', schema: ErrorResponse };
export const assistantTags = ['Assistants'];

/** The path parameter that names an assistant. */
export const AssistantParams = Type.Object({
  assistant_id: Type.String({
    minLength: 1,
    description: 'The id of the assistant (a UUID), or the name of a graph for its default assistant.',
  }),
});
const twice = {
  description: 'Both `config.configurable` and `context` are given.',
  schema: ErrorResponse,
};

export const createAssistant = defineCreation('assistants', {
  operationId: 'createAssistant',
  method: 'post',
  path: '/assistants',
  permission: 'runs:create',
  summary: 'Create an assistant: a named configuration of a graph',
  tags: assistantTags,
  access: 'principal',
  body: AssistantCreate,
  responses: {
    200: { description: 'The assistant.', schema: Assistant, example: exampleAssistant },
    400: twice,
    404: noSuchAssistant,
    409: { description: 'An assistant with that id exists.', schema: ErrorResponse },
    422: invalidRequest,
  },
  examples: { body: { graph_id: 'echo', name: 'Polite echo', config: { configurable: { tone: 'polite' } } } },
});

export const searchAssistants = defineOperation({
  operationId: 'searchAssistants',
  method: 'post',
  path: '/assistants/search',
  permission: 'runs:read',
  summary: 'Search assistants',
  tags: assistantTags,
  access: 'principal',
  body: AssistantSearchRequest,
  bodyOptional: true,
  responses: {
    200: {
      description: 'One page of assistants, newest first unless sorted otherwise.',
      schema: Type.Array(Type.Partial(Assistant)),
      headers: PAGINATION_HEADERS,
      example: [exampleAssistant],
    },
    422: invalidRequest,
  },
  examples: { body: { graph_id: 'echo', limit: 10, select: ['assistant_id', 'name'] } },
});

export const countAssistants = defineOperation({
  operationId: 'countAssistants',
  method: 'post',
  path: '/assistants/count',
  permission: 'runs:read',
  summary: 'Count assistants',
  tags: assistantTags,
  access: 'principal',
  body: AssistantCountRequest,
  bodyOptional: true,
  responses: { 200: { description: 'How many match.', schema: Type.Integer(), example: 1 }, 422: invalidRequest },
  examples: { body: { graph_id: 'echo' } },
});

export const getAssistant = defineOperation({
  operationId: 'getAssistant',
  method: 'get',
  path: '/assistants/{assistant_id}',
  permission: 'runs:read',
  summary: 'Get an assistant',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  responses: {
    200: { description: 'The assistant.', schema: Assistant, example: exampleAssistant },
    404: noSuchAssistant,
    422: invalidRequest,
  },
  examples: { params: { assistant_id: exampleAssistant.assistant_id } },
});

export const patchAssistant = defineOperation({
  operationId: 'patchAssistant',
  method: 'patch',
  path: '/assistants/{assistant_id}',
  permission: 'runs:update',
  summary: 'Change an assistant: each change is a new version',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  body: AssistantPatch,
  responses: {
    200: { description: 'The assistant as it is now.', schema: Assistant, example: exampleAssistant },
    400: twice,
    404: noSuchAssistant,
    422: invalidRequest,
  },
  examples: {
    params: { assistant_id: exampleAssistant.assistant_id },
    body: { name: 'Polite echo', context: { tone: 'polite' }, metadata: { team: 'blue' } },
  },
});

export const deleteAssistant = defineOperation({
  operationId: 'deleteAssistant',
  method: 'delete',
  path: '/assistants/{assistant_id}',
  permission: 'runs:delete',
  summary: 'Delete an assistant with its versions and crons; its runs in flight are cancelled',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  query: Type.Object({
    delete_threads: Type.Optional(
      Type.Enum(QueryFlag.enum, {
        type: 'string',
        description: 'Delete the threads too whose `metadata.assistant_id` is this assistant. Default false.',
      }),
    ),
  }),
  responses: {
    204: { description: 'It is gone.' },
    403: { description: 'It is the default assistant of a graph.', schema: ErrorResponse },
    404: noSuchAssistant,
    422: invalidRequest,
  },
  examples: { params: { assistant_id: exampleAssistant.assistant_id }, query: { delete_threads: 'true' } },
});

export const ASSISTANT_OPERATIONS = [
  createAssistant,
  searchAssistants,
  countAssistants,
  getAssistant,
  patchAssistant,
  deleteAssistant,
];
