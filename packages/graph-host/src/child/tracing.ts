/** Sends the trace of a run to the LangSmith project asked for. Nothing is sent unless the project's environment has tracing on. */
import type { RunRequest } from '../types.ts';
import type { ProjectModules } from './langchain-modules.ts';

interface TracerModule {
  LangChainTracer: new (fields: { projectName?: string; exampleId?: string }) => object;
}

/** As LangSmith's own clients read them. */
const SWITCHES = ['LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2', 'LANGSMITH_TRACING', 'LANGCHAIN_TRACING'];

/** Callbacks of the run, in place of the tracer that LangChain would add by itself. */
export async function tracersOf(
  { tracing }: Pick<RunRequest, 'tracing'>,
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
