/**
 * Search by meaning: every embedded item that the conditions leave is compared, so the answer is exact whatever the filter.
 * With pgvector the comparison is its inner product, which is an order of magnitude faster and a little less precise: it
 * chooses who comes near, and those few are scored as without it. Both give the same items, scores and order.
 */
import type pg from 'pg';
import { Parameters } from '../parameters.ts';
import { ITEM_COLUMNS, type ItemRow } from './live-items.ts';
import type { OperationOf } from './operations.ts';
import { ITEMS_DEFAULT, searchConditions } from './store-reads.ts';

/** How many more than asked for are scored exactly: pgvector calculates with four bytes, and may swap neighbours. */
const SWAPPED_MAX = 32;

export interface SemanticSearch {
  operation: OperationOf<'search'>;
  vector: Float32Array;
  space: string;
  /** Schema of the pgvector extension; null without it. */
  vectorSchema: string | null;
}

/** Nearest first; items without vectors have no rank and are left out. */
export async function searchByMeaning(
  pool: pg.Pool,
  { operation, vector, space, vectorSchema }: SemanticSearch,
): Promise<(ItemRow & { score: number })[]> {
  const { limit = ITEMS_DEFAULT, offset = 0 } = operation;
  const parameters = new Parameters();
  // Parameters of their final type are read once. Cast from text they would be read again for every row.
  const list = `{${vector.join(',')}}`;
  const query = `${parameters.add(list)}::float8[]`;
  const ofSpace = `e.space = ${parameters.add(space)}`;
  const conditions = [...searchConditions(operation, parameters), ofSpace].join(' AND ');
  const candidates = `store_item i JOIN store_embedding e ON e.embedding_id = i.embedding_id WHERE ${conditions}`;
  const exact = `max((SELECT sum(a * b) FROM (SELECT unnest(e.vector) AS a, unnest(${query}) AS b) AS p))`;
  const page = `LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`;
  const ranked = `GROUP BY 1, 2 ORDER BY score DESC, 1, 2 ${page}`;
  const { rows } = await pool.query<ItemRow & { score: number }>({
    text: vectorSchema
      ? `WITH near AS MATERIALIZED (
           SELECT i.namespace, i.key, i.embedding_id, min(${distance(vectorSchema, `${parameters.add(list)}::real[]`)}) AS distance
           FROM ${candidates}
           GROUP BY 1, 2, 3 ORDER BY distance, 1, 2 LIMIT ${parameters.add(limit + offset + SWAPPED_MAX)}
         ),
         ranked AS MATERIALIZED (
           SELECT n.namespace, n.key, ${exact} AS score FROM near n JOIN store_embedding e USING (embedding_id)
           WHERE ${ofSpace} ${ranked}
         ) ${ITEMS}`
      : `WITH ranked AS MATERIALIZED (SELECT i.namespace, i.key, ${exact} AS score FROM ${candidates} ${ranked}) ${ITEMS}`,
    values: parameters.values,
  });
  return rows.map((row) => ({ ...row, score: Math.max(-1, Math.min(1, row.score)) }));
}

const ITEMS = `SELECT ${ITEM_COLUMNS}, r.score FROM ranked r JOIN store_item i USING (namespace, key)
               ORDER BY r.score DESC, i.namespace, i.key`;

/** The negative inner product. Vectors are kept as `real[]` and cast, so that the table is the same with and without pgvector. */
function distance(schema: string, query: string): string {
  const type = `${schema}.vector`;
  return `e.vector::${type} OPERATOR(${schema}.<#>) ${query}::${type}`;
}
