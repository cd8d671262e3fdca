import type { CloudEvent } from '@runyard/contracts';
import type pg from 'pg';

/** A row of the outbox for the relay. */
export interface UnpublishedRow {
  id: string;
  key: string;
  event: CloudEvent;
}

/** Rows of a topic that are published together. */
export interface Batch {
  rows: UnpublishedRow[];
  hasMore: boolean;
}

/** Bytes of one batch: much less than a broker accepts in one request (1 MB by default). */
const BATCH_BYTES_MAX = 512 * 1024;

/** Ends the topic of a row that the bus does not take. */
export const SET_ASIDE = '.too-large';

/**
 * Returns, for each of these topics that has any, the rows with the lowest ids within the limits of number and bytes,
 * but at least one. A topic's rows are counted for themselves: those of one that the bus refuses are in nobody's way.
 */
export async function readUnpublishedRows(
  pool: pg.Pool,
  topics: string[],
  batchSize: number,
): Promise<Map<string, Batch>> {
  const { rows } = await pool.query<UnpublishedRow & { topic: string; considered: number }>({
    name: 'outbox_lowest',
    text: `SELECT id, topic, key, event, considered FROM unnest($1::text[]) AS wanted (topic_name) CROSS JOIN LATERAL (
             SELECT id, topic, key, event, count(*) OVER ()::integer AS considered,
                    sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before
             FROM (SELECT id, topic, key, event, octet_length(event::text) AS bytes
                   FROM outbox WHERE topic = topic_name ORDER BY id LIMIT $2) AS lowest
           ) AS measured
           WHERE bytes_before < ${BATCH_BYTES_MAX} ORDER BY id`,
    values: [topics, batchSize],
  });
  const batches = new Map<string, Batch>();
  for (const { topic, considered, ...row } of rows) {
    const batch = batches.get(topic) ?? { rows: [], hasMore: false };
    batch.rows.push(row);
    batch.hasMore = batch.rows.length < considered || considered === batchSize;
    batches.set(topic, batch);
  }
  return batches;
}
