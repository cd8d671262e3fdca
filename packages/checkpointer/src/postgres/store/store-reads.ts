import { countedValues, rowsWithinBytes, type SizedRows, toSizedRows, toSqlText } from '@runyard/database';
import type pg from 'pg';
import { BackendError, type StoredItem } from '../../backend.ts';
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

/** Bytes of what the gets of one batch return: they are one message to the process that asked. */
const BATCH_BYTES_MAX = 256 * 1024 * 1024;

/**
 * Returns any number of items in one round trip, each in its operation's place; undefined where there is none.
 *
 * @throws BackendError when they are too large together
 */
export async function getItems(pool: pg.Pool, operations: OperationOf<'get'>[]): Promise<(ItemRow | undefined)[]> {
  const gotten = new FoundBytes(BATCH_BYTES_MAX, 'get fewer of them at once');
  const { rows } = await pool.query<ItemRow & { position: number }>({
    ...GET,
    types: countedValues(gotten.take),
    values: [
      operations.map(({ namespace }) => textArray(namespace)),
      operations.map(({ key }) => toSqlText(key)),
      operations.map(scopeJson),
    ],
  });
  const found = new Map(rows.map((row) => [row.position, row]));
  return operations.map((_, index) => found.get(index + 1));
}

/** The statement of a search, which is read as a whole, or as far as its items are not too large. */
export interface ItemList {
  text: string;
  values: unknown[];
}

/** Lists the most recently changed first. */
export function listNewest(operation: OperationOf<'search'>): ItemList {
  const { limit, offset } = pageOf(operation);
  const parameters = new Parameters();
  const text = `SELECT ${ITEM_COLUMNS} FROM store_item i WHERE ${searchConditions(operation, parameters).join(' AND ')}
                ORDER BY i.updated_at DESC, i.namespace, i.key
                LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`;
  return { text, values: parameters.values };
}

/** Bytes of what the searches of one batch find, as much as a list of a client may have. */
const FOUND_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Counts what reads find as it arrives: to ask Postgres for the sizes before would print every value twice. @throws
 * BackendError when it is more than one batch may find
 */
export class FoundBytes {
  readonly #max: number;
  readonly #advice: string;
  #taken = 0;

  constructor(max = FOUND_BYTES_MAX, advice = 'use a smaller limit, or name a narrower namespace') {
    this.#max = max;
    this.#advice = advice;
  }

  readonly take = (bytes: number): void => {
    this.#taken += bytes;
    if (this.#taken <= this.#max) return;
    throw new BackendError('too_large', `Items found have more than ${this.#max} bytes: ${this.#advice}.`);
  };
}

/** @throws what `found` throws */
export async function readItems(pool: pg.Pool, { text, values }: ItemList, found: FoundBytes): Promise<ItemRow[]> {
  return (await pool.query<ItemRow>({ text, values, types: countedValues(found.take) })).rows;
}

const [BEFORE, BETWEEN, AFTER] = rowsWithinBytes(ITEM_BYTES);

/** Reads a list with the bytes of its items; none where they have more than `maxBytes`. */
export async function readItemsWithin(
  pool: pg.Pool,
  { text, values }: ItemList,
  maxBytes: number,
): Promise<SizedRows<ItemRow>> {
  const within = `${BEFORE}${text}${BETWEEN}$${values.length + 1}${AFTER}`;
  return toSizedRows<ItemRow>((await pool.query({ text: within, values: [...values, maxBytes] })).rows);
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
export function itemOf(row: ItemRow, decrypt: (value: ItemRow['value']) => ItemRow['value']): StoredItem {
  return {
    namespace: row.namespace,
    key: row.key,
    value: decrypt(row.value),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    // Sums of products of unit vectors may be off by a rounding.
    ...(row.score !== undefined && { score: Math.max(-1, Math.min(1, row.score)) }),
  };
}
