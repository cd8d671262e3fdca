/**
 * The schemas that a graph carries with it: of a `StateSchema`, of zod schemas registered with LangGraph, and of plain zod 3
 * and 4. LangGraph's own functions read them, so they know what `withLangGraph` added. A graph of `Annotation` has none.
 */
import type { CompiledGraph } from '../graph-types.ts';
import type { ProjectModules } from '../langchain-modules.ts';

export type JsonSchema = Record<string, unknown>;

/** What a graph takes, gives, keeps and is configured with. Left out: it does not say. */
export interface GraphSchemaParts {
  input?: JsonSchema;
  output?: JsonSchema;
  state?: JsonSchema;
  context?: JsonSchema;
}

type Read = (graph: CompiledGraph) => JsonSchema | undefined;

/** `@langchain/langgraph/zod/schema`. */
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

/** Some zod types have no JSON Schema (a transform, a bigint): that part of the graph then has none at run time. */
function attempt(read: Read, graph: CompiledGraph): JsonSchema | undefined {
  try {
    const schema = read(graph);
    return schema && Object.keys(schema).length > 0 ? schema : undefined;
  } catch {
    return undefined;
  }
}
