import { TRACEPARENT_KEY, TRACESTATE_KEY } from '@runyard/contracts';
import type { ExecutionRequest, RunSpan } from '@runyard/host-protocol';
import type { ClaimedRun } from '@runyard/run-engine';
import {
  runAttributes,
  startRunSpan,
  storedTraceContext,
  type TraceContext,
  type TraceSpan,
  type Tracing,
} from '@runyard/tracing';
import type { Ending } from './ending.ts';
import { maskSpan } from './mask-spans.ts';

/**
 * The part that one attempt has in the trace of its run. The run's arguments say where the trace goes on, so every
 * attempt continues it, in whichever worker it takes place.
 */
export class AttemptTrace {
  readonly #tracing: Tracing;
  readonly #span: TraceSpan | undefined;
  readonly #stored: TraceContext | undefined;

  constructor(tracing: Tracing, run: ClaimedRun) {
    this.#tracing = tracing;
    this.#stored = storedContext(run);
    this.#span = startRunSpan(tracing, 'process', {
      parent: this.#stored,
      attributes: { ...runAttributes(run), 'runyard.run.attempt': run.attempt },
    });
  }

  /** The place of the attempt in a trace; undefined when the run belongs to none. */
  get context(): TraceContext | undefined {
    return this.#span?.context ?? this.#stored;
  }

  /** Asks the graph host for spans; undefined when nobody records them. */
  get spans(): ExecutionRequest['spans'] {
    if (!this.#span?.isRecorded) return undefined;
    return { parentSpanId: this.#span.spanId, withContent: this.#tracing.capturesContent };
  }

  /** Exports spans of the host. Code of the project runs there: what it says is limited, and masked. */
  add(spans: readonly RunSpan[]): void {
    if (!this.#span) return;
    const masked = spans.map((span) => maskSpan(span, this.#tracing));
    this.#tracing.exportRecorded(this.#span.context, masked);
  }

  end(ending: Ending | undefined): void {
    const span = this.#span;
    if (!span) return;
    span.setAttributes({ 'runyard.run.outcome': outcomeOf(ending) });
    if (ending?.kind === 'finish' && ending.error) span.fail({ type: ending.error.error });
    else if (ending?.kind === 'release' && ending.release.failure) span.fail({ type: ending.release.failure.error });
    else if (!ending) span.fail({ type: '_OTHER' });
    span.end();
  }
}

/** `success`, `error` or `interrupted`; `released` when another attempt follows; `taken_over` when one has begun. */
function outcomeOf(ending: Ending | undefined): string {
  if (!ending) return 'unknown';
  if (ending.kind === 'finish') return ending.status;
  return ending.kind === 'release' ? 'released' : 'taken_over';
}

function storedContext({ kwargs }: ClaimedRun): TraceContext | undefined {
  const { configurable = {} } = (kwargs.config ?? {}) as { configurable?: Record<string, unknown> };
  return storedTraceContext(configurable[TRACEPARENT_KEY], configurable[TRACESTATE_KEY]);
}
