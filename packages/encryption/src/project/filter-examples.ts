import { isObject } from './is-object.ts';

/** Returns data as a search would find it: `{n: {$gt: 1, $in: [2]}}` asks for `{n: 1}` and `{n: 2}`. */
export function examplesOf(filter: unknown): Record<string, unknown>[] {
  if (!isObject(filter)) return [];
  const entries = Object.entries(filter).map(([key, condition]) => ({ key, values: operandsOf(condition) }));
  const length = Math.max(0, ...entries.map(({ values }) => values.length));
  return Array.from({ length }, (_, index) =>
    Object.fromEntries(entries.flatMap(({ key, values }) => (index < values.length ? [[key, values[index]]] : []))),
  );
}

function operandsOf(condition: unknown): unknown[] {
  if (!isObject(condition)) return [condition];
  const operators = Object.entries(condition);
  if (!operators.some(([name]) => name.startsWith('$'))) return [condition];
  return operators.flatMap(([, operand]) => operand);
}
