/**
 * Sends the trace of a run to the requested LangSmith project. Nothing is sent unless the project's environment enables
 * tracing.
 */
import type { ExecutionRequest } from '../../types.ts';
import type { ProjectModules } from '../langgraph/langchain-modules.ts';

interface TracerModule {
  LangChainTracer: new (fields: { projectName?: string; exampleId?: string }) => object;
}

/** The variables that LangSmith's own clients read. */
const SWITCHES = ['LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2', 'LANGSMITH_TRACING', 'LANGCHAIN_TRACING'];

/** Returns callbacks for the run that replace the tracer which LangChain would add by itself. */
export async function tracersOf(
  { tracing }: Pick<ExecutionRequest, 'tracing'>,
  modules: Pick<ProjectModules, 'importCore'>,
): Promise<object[] | undefined> {
  if (!tracing || !SWITCHES.some((name) => process.env[name] === 'true')) return undefined;
  const { LangChainTracer } = (await modules.importCore('tracers/tracer_langchain')) as TracerModule;
  const { project, exampleId } = tracing;
  return [
    new LangChainTracer({
      ...(project !== undefined && { projectName: project }),
      ...(exampleId !== undefined && { exampleId }),
    }),
  ];
}
