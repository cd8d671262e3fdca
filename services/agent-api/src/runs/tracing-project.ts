/** The switches that LangSmith's own clients read. */
const SWITCHES = ['LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2', 'LANGSMITH_TRACING', 'LANGCHAIN_TRACING'];

/**
 * Returns the LangSmith project that the environment of the project's code sends traces to; undefined when it sends
 * none.
 */
export function tracingProjectOf(environment: Record<string, string | undefined>): string | undefined {
  if (!SWITCHES.some((name) => environment[name] === 'true')) return undefined;
  return environment.LANGSMITH_PROJECT ?? environment.LANGCHAIN_PROJECT ?? 'default';
}
