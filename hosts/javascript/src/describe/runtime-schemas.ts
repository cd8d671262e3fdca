/**
 * Reads the schemas that a graph object carries: those of a `StateSchema`, of zod schemas registered with LangGraph,
 * and of plain zod 3 and 4. LangGraph's own functions read them, so they include what `withLangGraph` added. A graph of
 * `Annotation` carries none.
 */
import type { CompiledGraph } from '../langgraph/graph-types.ts';
import type { ProjectModules } from '../langgraph/langchain-modules.ts';

type JsonSchema = Record<string, unknown>;

/** Schemas of a graph. A property is missing when the graph does not say. */
export interface GraphSchemaParts {
  input?: JsonSchema;
  output?: JsonSchema;
  state?: JsonSchema;
  context?: JsonSchema;
}

type Read = (graph: CompiledGraph) => JsonSchema | undefined;

/** The module `@langchain/langgraph/zod/schema`. */
interface SchemaModule {
  getInputTypeSchema: Read;
  getOutputTypeSchema: Read;
  getStateTypeSchema: Read;
  getConfigTypeSchema: Read;
}

export async function runtimeSchemas(graph: CompiledGraph, modules: ProjectModules): Promise<GraphSchemaParts> {
  const module = (await modules.importLangGraph('zod/schema').catch(() => undefined)) as SchemaModule | undefined;
  if (!module) return {};
  const parts = Object.entries({
    input: module.getInputTypeSchema,
    output: module.getOutputTypeSchema,
    state: module.getStateTypeSchema,
    context: module.getConfigTypeSchema,
  }).map(([part, read]) => [part, attempt(read, graph)]);
  return Object.fromEntries(parts.filter(([, schema]) => schema !== undefined));
}

/** Returns undefined when a zod type has no JSON Schema (a transform, a bigint). */
function attempt(read: Read, graph: CompiledGraph): JsonSchema | undefined {
  try {
    const schema = read(graph);
    return schema && Object.keys(schema).length > 0 ? schema : undefined;
  } catch {
    return undefined;
  }
}
