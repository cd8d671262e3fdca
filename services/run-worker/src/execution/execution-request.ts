import {
  LANGSMITH_BAGGAGE_KEY,
  LANGSMITH_TRACE_KEY,
  type RunArguments,
  TRACEPARENT_KEY,
  TRACESTATE_KEY,
  TRACING_EXAMPLE_KEY,
  TRACING_PROJECT_KEY,
} from '@runyard/contracts';
import type { ExecutionRequest } from '@runyard/host-protocol';
import type { ClaimedRun } from '@runyard/run-engine';
import type { AttemptTrace } from './attempt-trace.ts';

/**
 * Builds what the graph host executes from the run's `RunArguments`, which agent-api checked.
 *
 * @param trace the attempt's place in a trace, which the project's code sees instead of the run's
 */
export function toExecutionRequest(
  run: ClaimedRun,
  { context, spans }: Partial<Pick<AttemptTrace, 'context' | 'spans'>> = {},
): ExecutionRequest {
  const args = run.kwargs as RunArguments;
  const { configurable, metadata, tags, recursion_limit } = args.config;
  const graphId = String(configurable.graph_id);
  return {
    runId: run.runId,
    threadId: run.threadId,
    assistantId: run.assistantId,
    graphId,
    attempt: run.attempt,
    ...(run.isThreadNew && { isThreadNew: true }),
    ...(args.input !== undefined && { input: args.input }),
    ...(args.command && { command: args.command }),
    config: {
      configurable: {
        ...configurable,
        ...(context && { [TRACEPARENT_KEY]: context.traceparent }),
        ...(context?.tracestate && { [TRACESTATE_KEY]: context.tracestate }),
        run_id: run.runId,
        thread_id: run.threadId,
        assistant_id: run.assistantId,
        graph_id: graphId,
      },
      metadata: { ...run.metadata, ...metadata },
      ...(tags && { tags }),
      ...(recursion_limit !== undefined && { recursion_limit }),
      ...furtherKeys(args.config),
    },
    ...(args.context !== undefined && args.context !== null && { context: args.context }),
    streamModes: args.stream_mode,
    streamSubgraphs: args.subgraphs,
    ...(args.event_protocol === 'v2' && { emitsProtocolEvents: true }),
    ...(args.interrupt_before && { interruptBefore: args.interrupt_before }),
    ...(args.interrupt_after && { interruptAfter: args.interrupt_after }),
    // Between two steps, budgets are looked at.
    durability: run.budgets === 'enforced' ? 'sync' : args.durability,
    ...tracingOf(configurable),
    ...(context && { traceparent: context.traceparent }),
    ...(spans && { spans }),
  };
}

/**
 * Picks the keys of LangChain's own configuration that mean something to a run; clients may send them, and nobody has
 * checked them.
 */
function furtherKeys({ run_name, max_concurrency }: Record<string, unknown>) {
  return {
    ...(typeof run_name === 'string' && { run_name }),
    ...(typeof max_concurrency === 'number' && max_concurrency > 0 && { max_concurrency }),
  };
}

function tracingOf(configurable: Record<string, unknown>): Pick<ExecutionRequest, 'tracing'> {
  const { [TRACING_PROJECT_KEY]: project, [TRACING_EXAMPLE_KEY]: exampleId } = configurable as Record<string, string>;
  const { [LANGSMITH_TRACE_KEY]: trace, [LANGSMITH_BAGGAGE_KEY]: baggage } = configurable as Record<string, string>;
  if ([project, exampleId, trace].every((value) => value === undefined)) return {};
  return {
    tracing: {
      ...(project !== undefined && { project }),
      ...(exampleId !== undefined && { exampleId }),
      ...(trace !== undefined && { parent: { trace, ...(baggage !== undefined && { baggage }) } }),
    },
  };
}
