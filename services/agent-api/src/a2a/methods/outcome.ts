import type { A2aStreamEvent } from '@runyard/contracts';

/** The outcome of a method, in the form of A2A 1.0; a binding sends it. */
export type Outcome =
  | { kind: 'value'; value: unknown }
  /** It takes as long as a run. `value` resolves with undefined when the signal came first. */
  | { kind: 'later'; value: (closed: AbortSignal) => Promise<unknown> }
  /** `first` is there already: what fails before it is a plain error. */
  | {
      kind: 'events';
      first: A2aStreamEvent;
      rest: (closed: AbortSignal) => AsyncGenerator<A2aStreamEvent, void, undefined>;
    };

export function value(result: unknown): Outcome {
  return { kind: 'value', value: result };
}
