import type { Fields } from '../../http/fields.ts';
import type { AgUiEvent } from './ag-ui-event.ts';

/** Reports the nodes of the root graph as steps. A node that runs several times at once is one step. */
export class Steps {
  /** Tasks at work, by the name of their node. */
  readonly #open = new Map<string, Set<unknown>>();

  /** Translates an event of the channel `tasks`: of the beginning of a task, or with its result. */
  *translate({ id, name, ...task }: Fields): Generator<AgUiEvent> {
    if (typeof name !== 'string' || name.startsWith('__')) return;
    const tasks = this.#open.get(name);
    if (!('result' in task)) {
      if (!tasks) yield { type: 'STEP_STARTED', stepName: name };
      this.#open.set(name, (tasks ?? new Set()).add(id));
    } else if (tasks?.delete(id) && tasks.size === 0) yield this.#finish(name);
  }

  *closeAll(): Generator<AgUiEvent> {
    for (const name of [...this.#open.keys()]) yield this.#finish(name);
  }

  #finish(stepName: string): AgUiEvent {
    this.#open.delete(stepName);
    return { type: 'STEP_FINISHED', stepName };
  }
}
