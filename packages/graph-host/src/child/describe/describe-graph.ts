/** Describes graphs (drawing, input keys, schemas, subgraphs) without running them. */
import type {
  DescribeRequest,
  DrawingRequest,
  GraphDrawing,
  GraphInputKeys,
  GraphSchemas,
  SchemasRequest,
  SubgraphsRequest,
} from '../../types.ts';
import type { CompiledGraph, GraphConfig } from '../langgraph/graph-types.ts';
import type { LoadedGraph } from '../loading/load-graphs.ts';
import { inputKeys } from './input-keys.ts';
import { type GraphSchemaParts, runtimeSchemas } from './runtime-schemas.ts';
import type { SourceSchemas } from './source-schemas.ts';

const ASSISTANT_USE = { accessContext: 'assistants.read', executionRuntime: null } as const;

export class GraphDescriber {
  readonly #source: Pick<SourceSchemas, 'of'>;
  /**
   * Keyed by the graph object: a graph that a factory makes anew is described anew, because its config may change it.
   */
  readonly #runtime = new WeakMap<CompiledGraph, Promise<GraphSchemaParts>>();

  constructor(source: Pick<SourceSchemas, 'of'>) {
    this.#source = source;
  }

  async draw(graph: LoadedGraph, { config, xray }: DrawingRequest): Promise<GraphDrawing> {
    const compiled = await graph.getGraph(config as GraphConfig, ASSISTANT_USE);
    const drawing = await compiled.getGraphAsync({ ...config, xray });
    return drawing.toJSON() as GraphDrawing;
  }

  async inputKeys(graph: LoadedGraph, { config }: DescribeRequest): Promise<GraphInputKeys> {
    return inputKeys(await graph.getGraph(config as GraphConfig, ASSISTANT_USE));
  }

  async schemas(graph: LoadedGraph, { config, sourceTimeoutMs }: SchemasRequest): Promise<GraphSchemas> {
    const compiled = await graph.getGraph(config as GraphConfig, ASSISTANT_USE);
    const inSource = async () => (await this.#source.of(graph, sourceTimeoutMs)).graph;
    return this.#schemas(compiled, graph, inSource);
  }

  async subgraphs(
    graph: LoadedGraph,
    { config, namespace, recurse, sourceTimeoutMs }: SubgraphsRequest,
  ): Promise<Record<string, GraphSchemas>> {
    const compiled = await graph.getGraph(config as GraphConfig, ASSISTANT_USE);
    const subgraphs: Record<string, GraphSchemas> = {};
    for await (const [name, subgraph] of compiled.getSubgraphsAsync(namespace, recurse)) {
      const inSource = async () => (await this.#source.of(graph, sourceTimeoutMs)).subgraphs[name] ?? {};
      subgraphs[name] = await this.#schemas(subgraph, graph, inSource);
    }
    return subgraphs;
  }

  /** Reads the source only for schemas that the graph object does not carry. */
  async #schemas(
    compiled: CompiledGraph,
    { modules }: LoadedGraph,
    inSource: () => Promise<GraphSchemaParts>,
  ): Promise<GraphSchemas> {
    let own = this.#runtime.get(compiled);
    if (!own) {
      own = runtimeSchemas(compiled, modules);
      this.#runtime.set(compiled, own);
    }
    const known = await own;
    const isWhole = known.input && known.output && known.state;
    const { input, output, state, context } = { ...(isWhole ? {} : await inSource()), ...known };
    return {
      input_schema: input ?? null,
      output_schema: output ?? null,
      state_schema: state ?? null,
      // LangGraph has renamed config to context; clients read both keys.
      config_schema: context ?? null,
      context_schema: context ?? null,
    };
  }
}
