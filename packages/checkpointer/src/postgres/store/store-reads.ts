import { toSqlText } from '@runyard/database';
import type pg from 'pg';
import type { StoredItem, StoreOperation } from '../../backend.ts';
import { Parameters } from '../parameters.ts';
import { beginsWith, matchesPath } from './namespace-conditions.ts';
import { textArray } from './text-array.ts';
import { hasFields } from './value-conditions.ts';

export type OperationOf<Kind extends StoreOperation['kind']> = Extract<StoreOperation, { kind: Kind }>;

const ITEMS_DEFAULT = 10;
const NAMESPACES_DEFAULT = 100;

interface ItemRow {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  created_at: Date;
  updated_at: Date;
}

/** Any number of items in one round trip, each in its operation's place; null where there is none. */
export async function getItems(pool: pg.Pool, operations: OperationOf<'get'>[]): Promise<(StoredItem | null)[]> {
  const { rows } = await pool.query<ItemRow & { position: number }>({
    name: 'store_get',
    text: `SELECT k.position::int, i.namespace, i.key, i.value, i.created_at, i.updated_at
           FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(namespace, key, position)
           JOIN store_item i ON i.namespace = k.namespace::text[] AND i.key = k.key`,
    values: [operations.map(({ namespace }) => textArray(namespace)), operations.map(({ key }) => toSqlText(key))],
  });
  const found = new Map(rows.map((row) => [row.position, itemOf(row)]));
  return operations.map((_, index) => found.get(index + 1) ?? null);
}

/** Last changed first. Without an index for meaning, `query` ranks nothing. */
export async function searchItems(pool: pg.Pool, operation: OperationOf<'search'>): Promise<StoredItem[]> {
  const { namespacePrefix, filter = {}, limit = ITEMS_DEFAULT, offset = 0 } = operation;
  const parameters = new Parameters();
  const conditions = [...beginsWith(namespacePrefix, parameters), ...hasFields(filter, parameters)];
  const { rows } = await pool.query<ItemRow>({
    text: `SELECT namespace, key, value, created_at, updated_at FROM store_item ${where(conditions)}
           ORDER BY updated_at DESC, namespace, key LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`,
    values: parameters.values,
  });
  return rows.map(itemOf);
}

/** In the order of their segments, each once. */
export async function listNamespaces(pool: pg.Pool, operation: OperationOf<'listNamespaces'>): Promise<string[][]> {
  const { prefix = [], suffix = [], maxDepth, limit = NAMESPACES_DEFAULT, offset = 0 } = operation;
  const parameters = new Parameters();
  const conditions = [
    ...(prefix.length > 0 ? matchesPath(prefix, 'start', parameters) : []),
    ...(suffix.length > 0 ? matchesPath(suffix, 'end', parameters) : []),
  ];
  const shown = maxDepth === undefined ? 'namespace' : `namespace[1:${parameters.add(maxDepth)}::int]`;
  const { rows } = await pool.query<{ shown: string[] }>({
    text: `SELECT DISTINCT ${shown} AS shown FROM store_item ${where(conditions)}
           ORDER BY shown LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`,
    values: parameters.values,
  });
  return rows.map((row) => row.shown);
}

function where(conditions: string[]): string {
  return conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
}

function itemOf(row: ItemRow): StoredItem {
  return {
    namespace: row.namespace,
    key: row.key,
    value: row.value,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
