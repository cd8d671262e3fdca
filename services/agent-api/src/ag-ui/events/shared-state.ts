import { type Fields, isFields } from '../../http/fields.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { diffJson } from './json-patch.ts';

/** Keys of a graph's state that are no state for clients: messages have their own events, the others come from them. */
export const NOT_SHARED: ReadonlySet<string> = new Set(['messages', 'tools', 'ag-ui', 'copilotkit', '__interrupt__']);

/** Returns the state that a client shares with a graph. */
function sharedState(values: unknown): Fields {
  if (!isFields(values)) return {};
  return Object.fromEntries(Object.entries(values).filter(([key]) => !NOT_SHARED.has(key)));
}

/** Reports how the state changes: as a whole at first and where the change would be longer, else by what has changed. */
export class SharedState {
  /** Undefined as long as the client's state is not known. */
  #last: Fields | undefined;

  *change(values: unknown): Generator<AgUiEvent> {
    const before = this.#last;
    if (before === undefined) {
      yield this.snapshot(values);
      return;
    }
    const state = sharedState(values);
    const delta = diffJson(before, state);
    if (delta === undefined) {
      yield this.snapshot(values);
      return;
    }
    this.#last = state;
    if (delta.length > 0) yield { type: 'STATE_DELTA', delta };
  }

  snapshot(values: unknown): AgUiEvent {
    const snapshot = sharedState(values);
    this.#last = snapshot;
    return { type: 'STATE_SNAPSHOT', snapshot };
  }

  /** Reports the next state as a whole, after events were lost. */
  forget(): void {
    this.#last = undefined;
  }
}
