/** The spans that hand a run over to a worker, by the conventions for messages. */
import type { TraceContext } from './trace-context.ts';
import type { Attributes, TraceSpan, Tracing } from './tracing.ts';

const QUEUE = 'runs';
const KINDS = { send: 'producer', process: 'consumer' } as const;

/** Begins the span that accepts a run (`send`), or that of one attempt (`process`). */
export function startRunSpan(
  tracing: Tracing,
  operation: keyof typeof KINDS,
  { parent, attributes }: { parent?: TraceContext | undefined; attributes?: Attributes } = {},
): TraceSpan | undefined {
  if (!tracing.isOn) return undefined;
  return tracing.startSpan({
    name: `${operation} ${QUEUE}`,
    kind: KINDS[operation],
    parent,
    attributes: {
      'messaging.system': 'runyard',
      'messaging.destination.name': QUEUE,
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      ...attributes,
    },
  });
}

/** Returns what names a run in a span. */
export function runAttributes({ runId, threadId }: { runId: string; threadId: string }): Attributes {
  return {
    'messaging.message.id': runId,
    'runyard.run.id': runId,
    'gen_ai.conversation.id': threadId,
    'langsmith.run_id': runId,
    'langsmith.thread_id': threadId,
  };
}
