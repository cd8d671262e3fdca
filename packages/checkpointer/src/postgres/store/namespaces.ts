import type pg from 'pg';
import { Parameters } from '../parameters.ts';
import { isVisible } from './live-items.ts';
import { matchesPath } from './namespace-conditions.ts';
import type { OperationOf } from './operations.ts';

const LIMIT_DEFAULT = 100;

/** Returns each namespace once, in the order of their segments. */
export async function listNamespaces(pool: pg.Pool, operation: OperationOf<'listNamespaces'>): Promise<string[][]> {
  const { maxDepth } = operation;
  // Null arrives instead of what JSON does not know: undefined and Infinity.
  const [prefix, suffix] = [operation.prefix ?? [], operation.suffix ?? []];
  const [limit, offset] = [operation.limit ?? LIMIT_DEFAULT, operation.offset ?? 0];
  const parameters = new Parameters();
  const conditions = [
    ...isVisible(operation, parameters),
    ...(prefix.length > 0 ? matchesPath(prefix, 'start', parameters) : []),
    ...(suffix.length > 0 ? matchesPath(suffix, 'end', parameters) : []),
  ];
  const shown =
    (maxDepth ?? undefined) === undefined ? 'i.namespace' : `i.namespace[1:${parameters.add(maxDepth)}::int]`;
  const { rows } = await pool.query<{ shown: string[] }>({
    text: `SELECT DISTINCT ${shown} AS shown FROM store_item i WHERE ${conditions.join(' AND ')}
           ORDER BY shown LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`,
    values: parameters.values,
  });
  return rows.map((row) => row.shown);
}
