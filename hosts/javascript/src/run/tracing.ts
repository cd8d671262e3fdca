/**
 * Sends the trace of a run to LangSmith: to the requested project, and below the caller's own trace where it names one.
 * Nothing is sent unless the project's environment enables tracing.
 */
import type { ExecutionRequest } from '@runyard/host-protocol/graph-process';
import type { ProjectModules } from '../langgraph/langchain-modules.ts';

interface TracerFields {
  projectName?: string;
  exampleId?: string;
  replicas?: [project: string, updates: { reference_example_id?: string } | undefined][];
}

interface Tracer {
  projectName?: string;
  /** Missing in tracers that cannot continue the trace of another process. */
  updateFromRunTree?(tree: RunTree): void;
}

interface RunTree {
  id: string;
}

interface TracerModule {
  LangChainTracer: new (fields: TracerFields) => Tracer;
}

interface ManagerModule {
  CallbackManager: new (parentRunId: string, options: { handlers: object[]; inheritableHandlers: object[] }) => object;
}

interface RunTreeModule {
  RunTree: { fromHeaders(headers: { 'langsmith-trace': string; baggage?: string }): RunTree | undefined };
}

type Modules = Pick<ProjectModules, 'importCore' | 'importLangSmith'>;
type Tracing = NonNullable<ExecutionRequest['tracing']>;

/** The variables that LangSmith's own clients read. */
const SWITCHES = ['LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2', 'LANGSMITH_TRACING', 'LANGCHAIN_TRACING'];

/**
 * Returns the callbacks of a run for LangGraph: the handlers given, with the tracer that the run asks for, which
 * replaces the one that LangChain would add by itself. Undefined when there are none.
 */
export async function callbacksOf(
  { tracing }: Pick<ExecutionRequest, 'tracing'>,
  modules: Modules,
  handlers: object[],
): Promise<object | undefined> {
  if (!tracing || !SWITCHES.some((name) => process.env[name] === 'true')) {
    return handlers.length > 0 ? handlers : undefined;
  }
  const module = (await modules.importCore('tracers/tracer_langchain')) as TracerModule;
  const tracer = createTracer(module, tracing);
  const all = [tracer, ...handlers];
  const parentRunId = tracing.parent && (await continueTrace(tracer, tracing.parent, modules));
  if (parentRunId === undefined) return all;
  const { CallbackManager } = (await modules.importCore('callbacks/manager')) as ManagerModule;
  return new CallbackManager(parentRunId, { handlers: all, inheritableHandlers: all });
}

function createTracer({ LangChainTracer }: TracerModule, { project, exampleId }: Tracing): Tracer {
  const usual = new LangChainTracer({ ...(exampleId !== undefined && { exampleId }) });
  if (project === undefined || project === usual.projectName) return usual;
  // Older tracers send to one project alone.
  if (!('replicas' in usual)) return new LangChainTracer({ projectName: project, exampleId });
  // The environment's project gets the trace too, as it gets those of all runs. Ids are those of the run in the
  // requested one, and only there it refers to the example.
  const updates = exampleId === undefined ? undefined : { reference_example_id: exampleId };
  const replicas: TracerFields['replicas'] = [[project, updates]];
  if (usual.projectName !== undefined) replicas.push([usual.projectName, undefined]);
  return new LangChainTracer({ projectName: project, replicas });
}

/** Returns the id of the caller's run that the trace goes on below; undefined where that is not possible. */
async function continueTrace(
  tracer: Tracer,
  { trace, baggage }: NonNullable<Tracing['parent']>,
  modules: Modules,
): Promise<string | undefined> {
  if (!tracer.updateFromRunTree) return undefined;
  const { RunTree } = (await modules.importLangSmith('run_trees')) as RunTreeModule;
  const tree = RunTree.fromHeaders({ 'langsmith-trace': trace, ...(baggage !== undefined && { baggage }) });
  if (!tree) return undefined;
  tracer.updateFromRunTree(tree);
  return tree.id;
}
