import type { RunUsage } from '@runyard/contracts';

type ModelUsage = RunUsage['models'][number];
type ToolUsage = RunUsage['tools'][number];

const MODEL_COUNTS = [
  'calls',
  'failed',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_creation_tokens',
  'reasoning_tokens',
] as const satisfies (keyof ModelUsage)[];
const TOOL_COUNTS = ['calls', 'failed'] as const satisfies (keyof ToolUsage)[];

export const NOTHING_USED: RunUsage = { models: [], tools: [] };

const modelKey = ({ provider, model }: ModelUsage) => JSON.stringify([provider, model]);
const toolKey = ({ name }: ToolUsage) => name;

/** Returns what an attempt has used by the newer of two of its events, whichever came first: numbers only grow. */
export function newerUsage(one: RunUsage, other: RunUsage): RunUsage {
  return combine(one, other, Math.max);
}

/** Returns what two attempts have used together. */
export function addUsage(one: RunUsage, other: RunUsage): RunUsage {
  return combine(one, other, (a, b) => a + b);
}

/** Returns what an attempt has used since an earlier event of it. */
export function usageSince(before: RunUsage, after: RunUsage): RunUsage {
  return combine(after, before, (a, b) => Math.max(0, a - b));
}

type Combination = (one: number, other: number) => number;

function combine(one: RunUsage, other: RunUsage, by: Combination): RunUsage {
  return {
    models: combineRows(one.models, other.models, { keyOf: modelKey, counts: MODEL_COUNTS, by }),
    tools: combineRows(one.tools, other.tools, { keyOf: toolKey, counts: TOOL_COUNTS, by }),
  };
}

/** Combines the numbers of rows with the same key; a row that one side lacks has only zeros there. */
function combineRows<Row extends Record<Count, number>, Count extends string>(
  ones: readonly Row[],
  others: readonly Row[],
  { keyOf, counts, by }: { keyOf: (row: Row) => string; counts: readonly Count[]; by: Combination },
): Row[] {
  const [mine, theirs] = [ones, others].map((rows) => new Map(rows.map((row) => [keyOf(row), row]))) as [
    Map<string, Row>,
    Map<string, Row>,
  ];
  return [...new Set([...mine.keys(), ...theirs.keys()])].map((key) => {
    const [one, other] = [mine.get(key), theirs.get(key)];
    const combined = counts.map((count) => [count, by(one?.[count] ?? 0, other?.[count] ?? 0)]);
    return { ...(one ?? other)!, ...Object.fromEntries(combined) };
  });
}
