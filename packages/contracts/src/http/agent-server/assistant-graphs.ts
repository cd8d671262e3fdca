import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { AssistantParams, assistantTags, exampleAssistant, invalidRequest, noSuchAssistant } from './assistants.ts';
import { QueryFlag } from './parts.ts';

const NodeId = Type.Union([Type.String(), Type.Integer()]);

export const GraphDrawing = Type.Object(
  {
    nodes: Type.Array(
      Type.Object({
        id: NodeId,
        type: Type.Optional(Type.String({ description: '`runnable`, or `schema` for a plain input or output.' })),
        data: Type.Optional(Type.Unknown({ description: 'Name and kind of what the node runs.' })),
        metadata: Type.Optional(Type.Unknown()),
      }),
    ),
    edges: Type.Array(
      Type.Object({
        source: NodeId,
        target: NodeId,
        data: Type.Optional(Type.Unknown({ description: 'What a conditional edge is taken for.' })),
        conditional: Type.Optional(Type.Boolean()),
      }),
    ),
  },
  { $id: 'GraphDrawing', description: 'What a picture of the graph is made from.' },
);
export type GraphDrawing = Static<typeof GraphDrawing>;

const JsonSchema = Type.Union([JsonObject, Type.Null()], {
  description: 'A JSON Schema; null when none can be made.',
});
const schemas = {
  input_schema: JsonSchema,
  output_schema: JsonSchema,
  state_schema: JsonSchema,
  config_schema: JsonSchema,
  context_schema: JsonSchema,
};

const GraphSchemaNoId = Type.Object(schemas, { $id: 'GraphSchemaNoId' });
type GraphSchemaNoId = Static<typeof GraphSchemaNoId>;

export const GraphSchema = Type.Object({ graph_id: Type.String(), ...schemas }, { $id: 'GraphSchema' });
export type GraphSchema = Static<typeof GraphSchema>;

export const GraphSummary = Type.Object(
  {
    graph_id: Type.String(),
    input_keys: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The keys that the input may have; null when the graph does not say.',
    }),
    tools: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description:
        'Names of the tools that its nodes call, those of its subgraphs too; null when the host of the graph cannot tell. Tools that the code of a node calls by itself are not among them.',
    }),
  },
  { $id: 'GraphSummary' },
);
export type GraphSummary = Static<typeof GraphSummary>;

export const Subgraphs = Type.Record(Type.String(), GraphSchemaNoId, {
  $id: 'Subgraphs',
  description: 'By namespace: the node the subgraph is in, for deeper ones `outer|inner`.',
});
export type Subgraphs = Static<typeof Subgraphs>;

const params = { assistant_id: exampleAssistant.assistant_id };
const text = { type: 'object', properties: { text: { type: 'string' } } };
const exampleSchemas: GraphSchemaNoId = {
  input_schema: text,
  output_schema: text,
  state_schema: text,
  config_schema: null,
  context_schema: null,
};
const recursing = (description: string) =>
  Type.Object({ recurse: Type.Optional(Type.Enum(QueryFlag.enum, { type: 'string', description })) });

export const getAssistantGraph = defineOperation({
  operationId: 'getAssistantGraph',
  method: 'get',
  path: '/assistants/{assistant_id}/graph',
  permission: 'runs:read',
  summary: 'Draw the graph of an assistant',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  query: Type.Object({
    xray: Type.Optional(
      Type.String({
        description: '`true` draws subgraphs in place of their nodes, a positive integer those down to that depth.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'Nodes and edges, as the configuration of the assistant makes the graph.',
      schema: GraphDrawing,
      example: {
        nodes: [
          { id: '__start__', type: 'schema', data: {} },
          { id: 'echo', type: 'runnable', data: { id: ['langgraph', 'RunnableCallable'], name: 'echo' } },
          { id: '__end__', type: 'schema', data: {} },
        ],
        edges: [
          { source: '__start__', target: 'echo' },
          { source: 'echo', target: '__end__' },
        ],
      },
    },
    404: noSuchAssistant,
    422: invalidRequest,
  },
  examples: { params, query: { xray: '2' } },
});

export const getAssistantSchemas = defineOperation({
  operationId: 'getAssistantSchemas',
  method: 'get',
  path: '/assistants/{assistant_id}/schemas',
  permission: 'runs:read',
  summary: 'Describe what the graph of an assistant takes, gives and keeps',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  responses: {
    200: { description: 'The schemas.', schema: GraphSchema, example: { graph_id: 'echo', ...exampleSchemas } },
    404: noSuchAssistant,
    422: invalidRequest,
  },
  examples: { params },
});

export const getAssistantSummary = defineOperation({
  operationId: 'getAssistantSummary',
  method: 'get',
  path: '/assistants/{assistant_id}/summary',
  permission: 'runs:read',
  summary: 'Name what the graph of an assistant takes, and the tools that it calls',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  responses: {
    200: {
      description:
        'What can be read off the compiled graph, without its source: it takes no longer than making the graph.',
      schema: GraphSummary,
      example: { graph_id: 'agent', input_keys: ['messages'], tools: ['search', 'send_email'] },
    },
    404: noSuchAssistant,
    422: invalidRequest,
  },
  examples: { params },
});

const subgraphs = {
  description: 'The schemas of each subgraph; none of them when the graph has no (such) subgraph.',
  schema: Subgraphs,
  example: { child: exampleSchemas },
};

export const getAssistantSubgraphs = defineOperation({
  operationId: 'getAssistantSubgraphs',
  method: 'get',
  path: '/assistants/{assistant_id}/subgraphs',
  permission: 'runs:read',
  summary: 'Describe the subgraphs of the graph of an assistant',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  query: recursing('Subgraphs of subgraphs too. Default false.'),
  responses: { 200: subgraphs, 404: noSuchAssistant, 422: invalidRequest },
  examples: { params, query: { recurse: 'true' } },
});

export const getAssistantSubgraphsIn = defineOperation({
  operationId: 'getAssistantSubgraphsIn',
  method: 'get',
  path: '/assistants/{assistant_id}/subgraphs/{namespace}',
  permission: 'runs:read',
  summary: 'Describe the subgraphs in one namespace',
  tags: assistantTags,
  access: 'principal',
  params: Type.Object({
    ...AssistantParams.properties,
    namespace: Type.String({ minLength: 1, description: 'The node, for a deeper one `outer|inner`.' }),
  }),
  query: recursing('Look for the namespace inside subgraphs too: needed for `outer|inner`. Default false.'),
  responses: { 200: subgraphs, 404: noSuchAssistant, 422: invalidRequest },
  examples: { params: { ...params, namespace: 'outer|inner' }, query: { recurse: 'true' } },
});

export const ASSISTANT_GRAPH_OPERATIONS = [
  getAssistantGraph,
  getAssistantSchemas,
  getAssistantSummary,
  getAssistantSubgraphs,
  getAssistantSubgraphsIn,
];
