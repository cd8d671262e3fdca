import { errorCodeOf } from '@runyard/service-kit';
import { startRunSpan, type TraceContext, type TraceSpan, type Tracing } from '@runyard/tracing';

export interface CreationTrace<T> {
  /** The trace of the request. */
  parent: TraceContext | undefined;
  /** Creates the runs as parts of this trace. */
  create: (trace: TraceContext | undefined) => Promise<T>;
  /** Describes in the span what was created. */
  describe: (span: TraceSpan, created: T) => Promise<void>;
}

/** Creates runs under a span that their attempts continue, whenever and wherever they take place. */
export async function traceCreation<T>(tracing: Tracing, { parent, create, describe }: CreationTrace<T>): Promise<T> {
  const span = startRunSpan(tracing, 'send', { parent });
  if (!span) return create(parent);
  try {
    const created = await create(span.context);
    await describe(span, created).catch(() => undefined); // The runs are accepted: their span just says less.
    return created;
  } catch (error) {
    span.fail({ type: errorCodeOf(error) });
    throw error;
  } finally {
    span.end();
  }
}
