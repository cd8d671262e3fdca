import type { Timeline } from './timeline.ts';
import { applyStates, type HistoryState } from './timeline-history.ts';

/** Reads states of one graph of a run from its deployment: pages of them, newest first, or a single one. */
export interface StatesOfRun {
  listStates(namespace: string, before: string | undefined): Promise<HistoryState[]>;
  getState(namespace: string, checkpointId: string): Promise<HistoryState | undefined>;
}

export const STATES_PAGE = 100;
const AT_ONCE = 3;
/** One reading takes so many graphs inside at most. */
const INNER_MAX = 200;

/** Reads the states of a run into its timeline, those of the graphs inside too, and later what is new. */
export class RunHistory {
  readonly #timeline: Timeline;
  readonly #states: StatesOfRun;
  readonly #onChange: () => void;
  /** By graph: the checkpoint up to which everything has been read. */
  readonly #readTo = new Map<string, string>();
  #reading: Promise<void> | undefined;
  #isAskedAgain = false;
  #first: HistoryState | undefined;

  constructor(timeline: Timeline, states: StatesOfRun, onChange: () => void) {
    this.#timeline = timeline;
    this.#states = states;
    this.#onChange = onChange;
  }

  /** The oldest checkpoint of the run; undefined before it was read, or where there is none. */
  get firstCheckpoint(): string | undefined {
    return this.#first?.checkpoint?.checkpoint_id ?? undefined;
  }

  /** The checkpoint from which the run started; undefined where it was the first of its thread. */
  get checkpointBefore(): string | undefined {
    return this.#first?.parent_checkpoint?.checkpoint_id ?? undefined;
  }

  /** Reads what is new. Calls in the meantime make one more reading. */
  read(): Promise<void> {
    if (this.#reading) {
      this.#isAskedAgain = true;
      return this.#reading;
    }
    this.#reading = this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      const waiting = await this.#readGraph('');
      let left = INNER_MAX;
      const readNext = async (): Promise<void> => {
        const namespace = waiting.pop();
        if (namespace === undefined || left-- <= 0) return;
        waiting.push(...(await this.#readGraph(namespace)));
        return readNext();
      };
      await Promise.all(Array.from({ length: AT_ONCE }, readNext));
      // A graph found by the last of them is left when the others have ended.
      await readNext();
    } while (this.#isAskedAgain);
  }

  /** @returns the namespaces of the graphs inside that may have something new */
  async #readGraph(namespace: string): Promise<string[]> {
    const readTo = this.#readTo.get(namespace);
    const inner: string[] = [];
    let next: HistoryState | undefined;
    let newest: string | undefined;
    let isKnown = false;
    for (;;) {
      const page = await this.#states.listStates(namespace, next?.checkpoint?.checkpoint_id ?? undefined);
      newest ??= page[0]?.checkpoint?.checkpoint_id ?? undefined;
      const known = page.findIndex(({ checkpoint }) => checkpoint?.checkpoint_id === readTo);
      isKnown = readTo !== undefined && known >= 0;
      const states = isKnown ? page.slice(0, known + 1) : page;
      inner.push(...applyStates(this.#timeline, states, next));
      next = states.at(-1) ?? next;
      this.#onChange();
      if (isKnown || page.length < STATES_PAGE) break;
    }
    if (!isKnown && namespace === '') this.#first = next;
    if (!isKnown && next) inner.push(...(await this.#readStart(namespace, next)));
    if (newest) this.#readTo.set(namespace, newest);
    return inner;
  }

  /** Reads the state from which a run without an input went on: it is another run's, but the tasks after it are not. */
  async #readStart(namespace: string, oldest: HistoryState): Promise<string[]> {
    const start = oldest.parent_checkpoint?.checkpoint_id;
    if (!start || oldest.metadata?.source === 'input') return [];
    const state = await this.#states.getState(namespace, start);
    if (!state) return [];
    const inner = applyStates(this.#timeline, [state], oldest);
    this.#onChange();
    return inner;
  }
}
