import type { A2aStreamEvent } from '@runyard/contracts';
import type { EventPosition } from '../tasks/task-events.ts';
import type { TaskViewOptions } from '../tasks/task-view.ts';

/** The outcome of a method, in the form of A2A 1.0; a binding sends it. */
export type Outcome =
  | { kind: 'value'; value: unknown }
  /** It takes as long as a run. `value` resolves with undefined when the signal came first. */
  | { kind: 'later'; value: (closed: AbortSignal) => Promise<unknown>; remainder: () => Remainder }
  | {
      kind: 'events';
      /** It is there already: what fails before it is a plain error. Undefined when another process has sent it. */
      first: A2aStreamEvent | undefined;
      rest: (closed: AbortSignal) => AsyncGenerator<A2aStreamEvent, void, undefined>;
      remainder: () => Remainder;
    };

/** The rest of an answer, which another process of the deployment can give. */
export interface Remainder {
  assistantId: string;
  taskId: string;
  /** Set for the result of a message; its view is that of the request. */
  view?: TaskViewOptions;
  /** Set for a stream: the position of what was sent last. */
  position?: EventPosition;
}

export function value(result: unknown): Outcome {
  return { kind: 'value', value: result };
}
