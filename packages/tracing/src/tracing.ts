import type { TraceContext } from './trace-context.ts';

export type Attributes = Record<string, string | number | boolean | string[]>;

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export interface SpanStart {
  name: string;
  kind: SpanKind;
  /** The place in a trace that the span continues; undefined: it begins one. */
  parent?: TraceContext | undefined;
  attributes?: Attributes;
}

/** Why a span failed. */
export interface SpanFailure {
  /** The class of an error, or a status: few values, for `error.type`. */
  type: string;
  message?: string | undefined;
}

/** A span that has begun. */
export interface TraceSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Its own place in the trace, for those who continue it. */
  readonly context: TraceContext;
  /** False when the sampler left the trace out: attributes need not be collected. */
  readonly isRecorded: boolean;
  rename(name: string): void;
  setAttributes(attributes: Attributes): void;
  fail(failure: SpanFailure): void;
  /** Refers to another trace, which this one has to do with and does not continue. */
  link(context: TraceContext): void;
  /** Ends the span; later calls have no effect. */
  end(): void;
}

/** A span that another process recorded, from its start to its end. Ids are 16 hex digits, times milliseconds. */
export interface RecordedSpan {
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: SpanKind;
  startMs: number;
  endMs: number;
  attributes: Attributes;
  error?: SpanFailure | undefined;
}

/** Makes and exports the spans of one process. */
export interface Tracing {
  /** False when nothing asks for traces: every call then returns at once and keeps nothing. */
  readonly isOn: boolean;
  /** True when spans may carry prompts, answers, and arguments and results of tools. */
  readonly capturesContent: boolean;
  /** Returns undefined when traces are off. */
  startSpan(start: SpanStart): TraceSpan | undefined;
  /** Exports spans of another process as parts of the trace that `context` is in, if that is sampled. */
  exportRecorded(context: TraceContext, spans: readonly RecordedSpan[]): void;
  /** Sends what is left, for a limited time; never rejects. */
  close(): Promise<void>;
}

export const TRACING_OFF: Tracing = {
  isOn: false,
  capturesContent: false,
  startSpan: () => undefined,
  exportRecorded: () => undefined,
  close: async () => undefined,
};
