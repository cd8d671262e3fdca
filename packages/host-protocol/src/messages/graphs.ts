/** Messages that describe graphs, without running them. */
import Type, { type Static } from 'typebox';
import { form, request } from './message.ts';
import { JsonSchema, ProjectFields, ProjectValue } from './values.ts';

export const FactoryConfig = form(
  'FactoryConfig',
  Type.Object(
    { configurable: ProjectFields, context: Type.Optional(ProjectValue) },
    { description: 'The configuration that a factory makes the graph from, as in runs.' },
  ),
);
/** The configuration that a factory makes the graph from, as in runs: `configurable`, and `context` with it. */
export type FactoryConfig = Static<typeof FactoryConfig> & { [key: string]: unknown };

const described = { graphId: Type.String(), config: FactoryConfig };
const sourceTimeoutMs = Type.Integer({
  minimum: 1,
  description: "Milliseconds that reading the graph's source may take, when it does not carry its schemas.",
});

const DescribeRequest = form('DescribeRequest', Type.Object(described));
/** Describes a graph for an assistant, without running it. */
export type DescribeRequest = Static<typeof DescribeRequest>;

const DrawingRequest = form(
  'DrawingRequest',
  Type.Object({
    ...described,
    xray: Type.Union([Type.Boolean(), Type.Number()], {
      description: 'True replaces nodes by the graphs inside them; a number does so down to that depth.',
    }),
  }),
);
export type DrawingRequest = Static<typeof DrawingRequest>;

const SchemasRequest = form('SchemasRequest', Type.Object({ ...described, sourceTimeoutMs }));
export type SchemasRequest = Static<typeof SchemasRequest>;

const SubgraphsRequest = form(
  'SubgraphsRequest',
  Type.Object({
    ...described,
    sourceTimeoutMs,
    namespace: Type.Optional(
      Type.String({ description: 'A node, or `outer|inner` for a deeper one; default: every node.' }),
    ),
    recurse: Type.Boolean({ description: 'True when to describe the subgraphs of subgraphs too.' }),
  }),
);
export type SubgraphsRequest = Static<typeof SubgraphsRequest>;

const StoreSchemasRequest = form(
  'StoreSchemasRequest',
  Type.Object({
    sourceTimeoutMs: Type.Integer({
      minimum: 1,
      description: 'Milliseconds that reading the source of each graph may take.',
    }),
    inBackground: Type.Optional(
      Type.Boolean({ description: 'Reads with a lower priority than the graphs have. Default: false.' }),
    ),
  }),
);
export type StoreSchemasRequest = Static<typeof StoreSchemasRequest>;

const GraphDrawing = form(
  'GraphDrawing',
  Type.Object({
    nodes: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    edges: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  }),
);
/** Nodes and edges as JSON of the wire (`GraphDrawing` in contracts). */
export type GraphDrawing = Static<typeof GraphDrawing>;

const GraphInputKeys = Type.Union([Type.Array(Type.String()), Type.Null()]);
/** The keys that a graph's input may have; null when the graph does not say. */
export type GraphInputKeys = Static<typeof GraphInputKeys>;

const GraphTools = Type.Array(Type.String());
/** The names of the tools that a graph can call. */
export type GraphTools = Static<typeof GraphTools>;

const KnownSchema = Type.Union([JsonSchema, Type.Null()]);
const GraphSchemas = form(
  'GraphSchemas',
  Type.Object({
    input_schema: KnownSchema,
    output_schema: KnownSchema,
    state_schema: KnownSchema,
    config_schema: KnownSchema,
    context_schema: KnownSchema,
  }),
);
/** JSON Schemas; null for those that are not known. */
export type GraphSchemas = Static<typeof GraphSchemas>;

export const graphsToHost = {
  'graph.draw': request(
    'graph.draw',
    { request: DrawingRequest },
    { answer: GraphDrawing, means: 'nodes and edges of a drawing' },
  ),
  'graph.input_keys': request(
    'graph.input_keys',
    { request: DescribeRequest },
    { answer: GraphInputKeys, means: 'the keys that its input may have; null when the graph does not say' },
  ),
  'graph.tools': request(
    'graph.tools',
    { request: DescribeRequest },
    { answer: GraphTools, means: 'names of the tools that its nodes call, those of the graphs inside of it too' },
  ),
  'graph.schemas': request(
    'graph.schemas',
    { request: SchemasRequest },
    { answer: GraphSchemas, means: 'JSON Schemas, null where unknown' },
  ),
  'graph.subgraphs': request(
    'graph.subgraphs',
    { request: SubgraphsRequest },
    { answer: Type.Record(Type.String(), GraphSchemas), means: 'schemas of subgraphs, by namespace' },
  ),
  'graph.store_schemas': request(
    'graph.store_schemas',
    { request: StoreSchemasRequest },
    {
      answer: Type.Integer({ minimum: 0, description: 'how many graphs have such schemas' }),
      means:
        'store the schemas that graphs do not carry in `.runyard/graph-schemas.json`, where later hosts find them, unless they are there',
    },
  ),
} as const;
