import type { RunCheckpoint } from '../../platform/replay.ts';

/** A step of a run: the nodes that ran at once. */
export interface RunStep {
  nodes: string[];
  /** Undefined where it is not known, and while the step goes on. */
  durationMs: number | undefined;
  /** True of the last step if it did not end. */
  isOpen: boolean;
}

/** A step of each of two runs that stand beside each other; one of them may have none there. */
export interface AlignedStep {
  original: RunStep | undefined;
  shadow: RunStep | undefined;
}

/** Steps of each run that are compared; of longer runs the rest is left out. */
export const STEPS_MAX = 500;

/**
 * Returns the steps of a run in their order.
 *
 * @param own the checkpoints that the run made, newest first
 * @param start the state that it went on from, where that is not one before an input
 */
export function stepsOf(
  own: readonly RunCheckpoint[],
  start: Pick<RunCheckpoint, 'next' | 'created_at'> | undefined,
): RunStep[] {
  const oldestFirst: Pick<RunCheckpoint, 'next' | 'created_at' | 'metadata'>[] = own.toReversed();
  const states = start ? [{ metadata: null, ...start }, ...oldestFirst] : oldestFirst;
  return states.flatMap(({ next, created_at: at }, index): RunStep[] => {
    const nodes = next.filter((name) => name !== '__start__');
    const after = states[index + 1];
    // A run with an input begins anew, whatever would have come next.
    if (nodes.length === 0 || after?.metadata?.source === 'input') return [];
    const isKnown = at && after?.created_at && (index > 0 || !start);
    const durationMs = isKnown ? Date.parse(after.created_at!) - Date.parse(at) : undefined;
    return [{ nodes, durationMs, isOpen: after === undefined }];
  });
}

/** Aligns the steps of two runs, so that as many as can be stand beside one with the same nodes. */
export function alignSteps(original: readonly RunStep[], shadow: readonly RunStep[]): AlignedStep[] {
  const [a, b] = [original.slice(0, STEPS_MAX), shadow.slice(0, STEPS_MAX)];
  const keys = [a, b].map((steps) => steps.map(({ nodes }) => nodes.toSorted().join('\n')));
  const lengths = commonLengths(keys[0]!, keys[1]!);
  const rows: AlignedStep[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const isBoth = i < a.length && j < b.length && keys[0]![i] === keys[1]![j];
    const takesOriginal = isBoth || (i < a.length && (j === b.length || lengths[i + 1]![j]! >= lengths[i]![j + 1]!));
    const takesShadow = isBoth || !takesOriginal;
    rows.push({ original: takesOriginal ? a[i++] : undefined, shadow: takesShadow ? b[j++] : undefined });
  }
  return rows;
}

/** Returns how much the rests of two lists from each pair of places on have in common, in order. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  return lengths;
}
