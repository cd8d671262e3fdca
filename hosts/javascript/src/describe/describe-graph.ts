/** Describes graphs (drawing, input keys, tools, schemas, subgraphs) without running them. */
import type {
  DescribeRequest,
  DrawingRequest,
  GraphDrawing,
  GraphInputKeys,
  GraphSchemas,
  GraphTools,
  SchemasRequest,
  StoreSchemasRequest,
  SubgraphsRequest,
} from '@runyard/host-protocol/graph-process';
import type { CompiledGraph, GraphConfig } from '../langgraph/graph-types.ts';
import type { LoadedGraph } from '../loading/load-graphs.ts';
import { inputKeys } from './input-keys.ts';
import { type GraphSchemaParts, runtimeSchemas } from './runtime-schemas.ts';
import type { SourceSchemas } from './source-schemas.ts';
import { toolNames } from './tool-names.ts';

const ASSISTANT_USE = { accessContext: 'assistants.read', executionRuntime: null } as const;

export class GraphDescriber {
  readonly #source: Pick<SourceSchemas, 'of' | 'store'>;
  /**
   * Keyed by the graph object: a graph that a factory makes anew is described anew, because its config may change it.
   */
  readonly #runtime = new WeakMap<CompiledGraph, Promise<GraphSchemaParts>>();

  constructor(source: Pick<SourceSchemas, 'of' | 'store'>) {
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

  async tools(graph: LoadedGraph, { config }: DescribeRequest): Promise<GraphTools> {
    return toolNames(await graph.getGraph(config as GraphConfig, ASSISTANT_USE));
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

  /**
   * Stores in the project's folder what schemas of its graphs have to be read from their source.
   *
   * @returns how many graphs have such schemas
   */
  async storeSchemas(graphs: Iterable<LoadedGraph>, request: StoreSchemasRequest): Promise<number> {
    const incomplete: LoadedGraph[] = [];
    for (const graph of graphs) if (!(await this.#carriesSchemas(graph))) incomplete.push(graph);
    return this.#source.store(incomplete, request);
  }

  /** Returns whether the graph and all inside of it carry their schemas. What a factory makes depends on its config. */
  async #carriesSchemas(graph: LoadedGraph): Promise<boolean> {
    if (graph.isFactory) return false;
    const compiled = await graph.getGraph({ configurable: {} }, ASSISTANT_USE);
    if (!isWhole(await this.#runtimeOf(compiled, graph))) return false;
    for await (const [, inner] of compiled.getSubgraphsAsync(undefined, true)) {
      if (!isWhole(await this.#runtimeOf(inner, graph))) return false;
    }
    return true;
  }

  /** Reads the source only for schemas that the graph object does not carry. */
  async #schemas(
    compiled: CompiledGraph,
    graph: LoadedGraph,
    inSource: () => Promise<GraphSchemaParts>,
  ): Promise<GraphSchemas> {
    const known = await this.#runtimeOf(compiled, graph);
    const { input, output, state, context } = { ...(isWhole(known) ? {} : await inSource()), ...known };
    return {
      input_schema: input ?? null,
      output_schema: output ?? null,
      state_schema: state ?? null,
      // LangGraph has renamed config to context; clients read both keys.
      config_schema: context ?? null,
      context_schema: context ?? null,
    };
  }

  #runtimeOf(compiled: CompiledGraph, { modules }: LoadedGraph): Promise<GraphSchemaParts> {
    let own = this.#runtime.get(compiled);
    if (!own) {
      own = runtimeSchemas(compiled, modules);
      this.#runtime.set(compiled, own);
    }
    return own;
  }
}

function isWhole({ input, output, state }: GraphSchemaParts): boolean {
  return input !== undefined && output !== undefined && state !== undefined;
}
