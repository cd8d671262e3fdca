import { isRetryable, toSqlJson, toSqlText } from '@runyard/database';
import { type DataCipher, JSON_PLACES } from '@runyard/encryption';
import type { Fence } from '@runyard/run-engine';
import type pg from 'pg';
import { BackendError } from '../../backend.ts';
import { HELD_FENCES } from '../held-fences.ts';
import type { ItemVectors } from './item-vectors.ts';
import { isWithin, scopeJson } from './live-items.ts';
import { NEVER_EXPIRES, type OperationOf } from './operations.ts';
import { textArray } from './text-array.ts';

const ATTEMPTS = 4;

/**
 * Every batch takes rows in the same order, so that concurrent batches wait for each other without a deadlock. A
 * trigger deletes the vectors of a replaced or deleted value.
 */
const changes = (first: number, allowed: string) => `
  given AS MATERIALIZED (
    SELECT p.namespace::text[] COLLATE "C" AS namespace, p.key, p.value::jsonb AS value, p.scope, p.ttl_minutes, p.embedding_id
    FROM unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[], $${first + 3}::jsonb[],
                $${first + 4}::float8[], $${first + 5}::uuid[])
      AS p(namespace, key, value, scope, ttl_minutes, embedding_id)
    WHERE ${allowed} ORDER BY 1, 2
  ),
  deleted AS (
    DELETE FROM store_item i USING given g
    WHERE g.value IS NULL AND i.namespace = g.namespace AND i.key = g.key AND ${isWithin('g.scope')}
  ),
  stored AS (
    INSERT INTO store_item AS i (namespace, key, value, ttl_minutes, expires_at, embedding_id)
    SELECT namespace, key, value, ttl_minutes, now() + make_interval(secs => ttl_minutes * 60), embedding_id
    FROM given WHERE value IS NOT NULL
    ON CONFLICT (namespace, key) DO UPDATE SET
      value = excluded.value, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at,
      embedding_id = excluded.embedding_id, updated_at = now(),
      created_at = CASE WHEN i.expires_at <= now() THEN now() ELSE i.created_at END
    WHERE i.expires_at <= now()
       OR ${isWithin('(SELECT g.scope FROM given g WHERE g.namespace = i.namespace AND g.key = i.key)')}
    RETURNING i.embedding_id
  ),
  embedded AS (
    INSERT INTO store_embedding (embedding_id, position, space, vector)
    SELECT v.embedding_id, v.position, $${first + 9}::text, v.vector::real[]
    FROM unnest($${first + 6}::uuid[], $${first + 7}::int[], $${first + 8}::text[]) AS v(embedding_id, position, vector)
    WHERE v.embedding_id IN (SELECT embedding_id FROM stored)
  )`;

const PUT = {
  name: 'store_put_embedded',
  text: `WITH ${changes(1, 'true')} SELECT (SELECT count(*)::int FROM stored) AS stored`,
};

const FENCED_PUT = {
  name: 'store_put_embedded_fenced',
  text: `WITH ${HELD_FENCES}, ${changes(4, 'EXISTS (SELECT 1 FROM held)')}
         SELECT (SELECT count(*)::int FROM stored) AS stored FROM held`,
};

export interface PutItems {
  /** One put per item. */
  puts: OperationOf<'put'>[];
  /** Vectors of the puts that are embedded. */
  vectors: ReadonlyMap<OperationOf<'put'>, ItemVectors>;
  /** Name of the embeddings and dimensions of the vectors. */
  space: string | null;
  fence: Fence | undefined;
  /** Encrypts single values inside of those of items. */
  cipher: DataCipher;
}

/**
 * Stores and deletes in one statement. With a fence, nothing is written once another attempt owns the thread.
 *
 * @throws BackendError `fenced`; `not_found` when an existing item is outside of the scope, which then stays unchanged
 * @throws EncryptionUnavailableError
 */
export async function putItems(pool: pg.Pool, { puts, vectors, space, fence, cipher }: PutItems): Promise<void> {
  const rows = [...vectors.values()].flatMap(({ embeddingId, vectors: list }) =>
    list.map((vector, position) => ({ embeddingId, position, vector: `{${vector.join(',')}}` })),
  );
  const encrypt = ({ value }: OperationOf<'put'>) => value && cipher.json.encrypt(value, JSON_PLACES.storeValue);
  const values = await Promise.all(puts.map(encrypt));
  const items = [
    puts.map(({ namespace }) => textArray(namespace)),
    puts.map(({ key }) => toSqlText(key)),
    values.map((value) => (value === null ? null : toSqlJson(value))),
    puts.map(scopeJson),
    puts.map(({ ttlMinutes = NEVER_EXPIRES }) => (ttlMinutes === NEVER_EXPIRES ? null : ttlMinutes)),
    puts.map((put) => vectors.get(put)?.embeddingId ?? null),
    rows.map(({ embeddingId }) => embeddingId),
    rows.map(({ position }) => position),
    rows.map(({ vector }) => vector),
    space,
  ];
  const query = fence
    ? { ...FENCED_PUT, values: [[fence.threadId], [String(fence.epoch)], [fence.runId], ...items] }
    : { ...PUT, values: items };
  const { rows: answer } = await retryPut(() => pool.query<{ stored: number }>(query));
  const [done] = answer;
  if (!done) throw new BackendError('fenced', 'Another attempt owns this thread now.');
  const toStore = puts.filter(({ value }) => value !== null).length;
  if (done.stored < toStore) throw new BackendError('not_found', 'Item not found');
}

async function retryPut<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}
