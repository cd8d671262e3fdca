import { rowsWithinBytes, type SizedRows, toSizedRows, toSqlText } from '@runyard/database';
import type pg from 'pg';
import type { StoredItem } from '../../backend.ts';
import { Parameters } from '../parameters.ts';
import { IS_LIVE, ITEM_BYTES, ITEM_COLUMNS, type ItemRow, isVisible, isWithin, scopeJson } from './live-items.ts';
import { beginsWith } from './namespace-conditions.ts';
import type { OperationOf } from './operations.ts';
import { textArray } from './text-array.ts';
import { hasFields } from './value-conditions.ts';

const ITEMS_DEFAULT = 10;

const GET = {
  name: 'store_get_live',
  text: `SELECT k.position::int, ${ITEM_COLUMNS}
         FROM unnest($1::text[], $2::text[], $3::jsonb[]) WITH ORDINALITY AS k(namespace, key, scope, position)
         JOIN store_item i ON i.namespace = k.namespace::text[] AND i.key = k.key
         WHERE ${IS_LIVE} AND ${isWithin('k.scope')}`,
};

/** Returns any number of items in one round trip, each in its operation's place; undefined where there is none. */
export async function getItems(pool: pg.Pool, operations: OperationOf<'get'>[]): Promise<(ItemRow | undefined)[]> {
  const { rows } = await pool.query<ItemRow & { position: number }>({
    ...GET,
    values: [
      operations.map(({ namespace }) => textArray(namespace)),
      operations.map(({ key }) => toSqlText(key)),
      operations.map(scopeJson),
    ],
  });
  const found = new Map(rows.map((row) => [row.position, row]));
  return operations.map((_, index) => found.get(index + 1));
}

/** Returns the most recently changed first; none where they have more than `maxBytes`. */
export async function searchItems(
  pool: pg.Pool,
  operation: OperationOf<'search'>,
  maxBytes: number,
): Promise<SizedRows<ItemRow>> {
  const { limit, offset } = pageOf(operation);
  const parameters = new Parameters();
  const list = `SELECT ${ITEM_COLUMNS} FROM store_item i WHERE ${searchConditions(operation, parameters).join(' AND ')}
                ORDER BY i.updated_at DESC, i.namespace, i.key
                LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`;
  return readWithin(pool, list, parameters, maxBytes);
}

const [BEFORE, BETWEEN, AFTER] = rowsWithinBytes(ITEM_BYTES);

/** Reads a list of items; none where they have more than `maxBytes`. */
export async function readWithin<Row extends ItemRow>(
  pool: pg.Pool,
  list: string,
  parameters: Parameters,
  maxBytes: number,
): Promise<SizedRows<Row>> {
  const text = `${BEFORE}${list}${BETWEEN}${parameters.add(maxBytes)}${AFTER}`;
  return toSizedRows<Row>((await pool.query({ text, values: parameters.values })).rows);
}

/** Replaces null by the default: numbers without a JSON form, such as Infinity, arrive as null. */
export function pageOf({ limit, offset }: OperationOf<'search'>): { limit: number; offset: number } {
  return { limit: limit ?? ITEMS_DEFAULT, offset: offset ?? 0 };
}

/** Returns conditions on `store_item i`. */
export function searchConditions(operation: OperationOf<'search'>, parameters: Parameters): string[] {
  const { namespacePrefix, filter } = operation;
  return [
    ...isVisible(operation, parameters),
    ...beginsWith(namespacePrefix, parameters),
    ...hasFields(filter ?? {}, parameters),
  ];
}

/** @param decrypt decrypts chosen keys of the value */
export function itemOf(
  row: ItemRow & { score?: number },
  decrypt: (value: ItemRow['value']) => ItemRow['value'],
): StoredItem {
  return {
    namespace: row.namespace,
    key: row.key,
    value: decrypt(row.value),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(row.score !== undefined && { score: row.score }),
  };
}
