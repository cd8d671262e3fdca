/**
 * Searches by meaning: every embedded item that matches the conditions is compared, so the result is exact with any
 * filter. With pgvector the comparison uses its inner product, which is an order of magnitude faster and a little less
 * precise: it selects candidates, which are then scored like without it. Both ways return the same items, scores and
 * order.
 */
import { Parameters } from '../parameters.ts';
import { ITEM_COLUMNS } from './live-items.ts';
import type { OperationOf } from './operations.ts';
import { type ItemList, pageOf, searchConditions } from './store-reads.ts';

/**
 * Number of additional candidates that are scored exactly: pgvector calculates with four bytes, and may swap neighbors.
 */
const SWAPPED_MAX = 32;

export interface SemanticSearch {
  operation: OperationOf<'search'>;
  vector: Float32Array;
  space: string;
  /** Schema of the pgvector extension; null without it. */
  vectorSchema: string | null;
}

/** Lists the nearest first, with their scores; items without vectors have no rank and are left out. */
export function listNearest({ operation, vector, space, vectorSchema }: SemanticSearch): ItemList {
  const { limit, offset } = pageOf(operation);
  const parameters = new Parameters();
  // Parameters of their final type are parsed once; a cast from text would be repeated for every row.
  const numbers = `{${vector.join(',')}}`;
  const query = `${parameters.add(numbers)}::float8[]`;
  const ofSpace = `e.space = ${parameters.add(space)}`;
  const conditions = [...searchConditions(operation, parameters), ofSpace].join(' AND ');
  const candidates = `store_item i JOIN store_embedding e ON e.embedding_id = i.embedding_id WHERE ${conditions}`;
  const exact = `max((SELECT sum(a * b) FROM (SELECT unnest(e.vector) AS a, unnest(${query}) AS b) AS p))`;
  // Rows are identified by their place in the table: it is shorter to group and sort than namespaces and keys.
  const scored = vectorSchema
    ? `near AS MATERIALIZED (
         SELECT i.embedding_id, min(i.ctid) AS place, min(${distance(vectorSchema, `${parameters.add(numbers)}::real[]`)}) AS distance
         FROM ${candidates} GROUP BY 1
         ORDER BY distance FETCH FIRST ${parameters.add(limit + offset + SWAPPED_MAX)} ROWS WITH TIES
       ),
       scored AS (
         SELECT n.place, ${exact} AS score FROM near n JOIN store_embedding e USING (embedding_id)
         WHERE ${ofSpace} GROUP BY 1
       )`
    : `scored AS (SELECT min(i.ctid) AS place, ${exact} AS score FROM ${candidates} GROUP BY i.embedding_id)`;
  const text = `WITH ${scored},
      best AS MATERIALIZED (
        SELECT * FROM scored ORDER BY score DESC FETCH FIRST ${parameters.add(limit + offset)} ROWS WITH TIES
      )
      SELECT ${ITEM_COLUMNS}, b.score FROM best b JOIN store_item i ON i.ctid = b.place
      ORDER BY b.score DESC, i.namespace, i.key LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`;
  return { text, values: parameters.values };
}

/**
 * Returns the negative inner product. Vectors are stored as `real[]` and cast, so that the table is the same with and
 * without pgvector.
 */
function distance(schema: string, query: string): string {
  const type = `${schema}.vector`;
  return `e.vector::${type} OPERATOR(${schema}.<#>) ${query}::${type}`;
}
