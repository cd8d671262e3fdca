import type { Shadow } from './start-shadow.ts';

/** The outcome of the replay of one of several runs. */
export type BulkOutcome =
  | { type: 'waiting' }
  | { type: 'working' }
  | { type: 'made'; shadow: Shadow }
  | { type: 'failed'; error: unknown }
  | { type: 'stopped' };

/** So many runs can be replayed together. */
export const BULK_MAX = 100;
const AT_ONCE = 3;

/**
 * Replays runs in their order, a few at a time. A failure of one stops no other.
 *
 * @param onChange gets the outcomes so far, in the order of the runs
 * @param signal once it is aborted, runs that were not begun are left out; those under way end
 */
export async function replayAll<Item>(
  runs: readonly Item[],
  replay: (run: Item) => Promise<Shadow>,
  onChange: (outcomes: readonly BulkOutcome[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let outcomes: readonly BulkOutcome[] = runs.map(() => ({ type: 'waiting' }));
  const put = (index: number, outcome: BulkOutcome) => {
    outcomes = outcomes.with(index, outcome);
    onChange(outcomes);
  };
  const waiting = [...runs.entries()];
  const replayNext = async (): Promise<void> => {
    const next = waiting.shift();
    if (!next) return;
    const [index, run] = next;
    if (signal.aborted) put(index, { type: 'stopped' });
    else {
      put(index, { type: 'working' });
      try {
        put(index, { type: 'made', shadow: await replay(run) });
      } catch (error) {
        put(index, { type: 'failed', error });
      }
    }
    return replayNext();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, replayNext));
}
