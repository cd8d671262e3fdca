import { isRetryable, toSqlJson, toSqlText } from '@runyard/database';
import type { Fence } from '@runyard/run-engine';
import type pg from 'pg';
import { BackendError } from '../../backend.ts';
import { HELD_FENCES } from '../held-fences.ts';
import type { OperationOf } from './store-reads.ts';
import { textArray } from './text-array.ts';

const ATTEMPTS = 4;

/** Rows are taken in one order by everybody, so that batches that meet wait for each other instead of in a circle. */
const changes = (items: number, allowed: string) => `
  given AS MATERIALIZED (
    SELECT p.namespace::text[] COLLATE "C" AS namespace, p.key, p.value::jsonb AS value
    FROM unnest($${items}::text[], $${items + 1}::text[], $${items + 2}::text[]) AS p(namespace, key, value)
    WHERE ${allowed} ORDER BY 1, 2
  ),
  deleted AS (
    DELETE FROM store_item i USING given g WHERE g.value IS NULL AND i.namespace = g.namespace AND i.key = g.key
  ),
  stored AS (
    INSERT INTO store_item (namespace, key, value) SELECT namespace, key, value FROM given WHERE value IS NOT NULL
    ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, updated_at = now()
  )`;

const PUT = { name: 'store_put', text: `WITH ${changes(1, 'true')} SELECT 1` };

const FENCED_PUT = {
  name: 'store_put_fenced',
  text: `WITH ${HELD_FENCES}, ${changes(4, 'EXISTS (SELECT 1 FROM held)')} SELECT position FROM held`,
};

/**
 * Stores and deletes in one transaction; of several puts of one item the last counts. With a fence nothing is written once
 * another attempt owns the thread.
 *
 * @throws BackendError `fenced`
 */
export async function putItems(
  pool: pg.Pool,
  operations: OperationOf<'put'>[],
  fence: Fence | undefined,
): Promise<void> {
  const last = new Map(operations.map((put) => [JSON.stringify([put.namespace, put.key]), put]));
  const puts = [...last.values()];
  const items = [
    puts.map(({ namespace }) => textArray(namespace)),
    puts.map(({ key }) => toSqlText(key)),
    puts.map(({ value }) => (value === null ? null : toSqlJson(value))),
  ];
  const query = fence
    ? { ...FENCED_PUT, values: [[fence.threadId], [String(fence.epoch)], [fence.runId], ...items] }
    : { ...PUT, values: items };
  const { rowCount } = await retried(() => pool.query(query));
  if (fence && rowCount === 0) throw new BackendError('fenced', 'Another attempt owns this thread now.');
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}
