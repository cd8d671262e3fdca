import { type CloudEvent, TOPICS } from '@runyard/contracts';
import type pg from 'pg';
import { topicNames } from '../events.ts';

/** A row of the outbox for the relay. */
export interface UnpublishedRow {
  id: string;
  topic: string;
  key: string;
  event: CloudEvent;
}

/** Bytes of one batch: much less than a broker accepts in one request (1 MB by default). */
const BATCH_BYTES_MAX = 512 * 1024;

/** Ends the topic of a row that the bus does not take. */
export const SET_ASIDE = '.too-large';

/**
 * Returns the rows with the lowest ids within the limits of number and bytes, but at least one, and whether there are
 * more. Topics of a newer version stay for a relay that knows them.
 */
export async function readUnpublishedRows(
  pool: pg.Pool,
  batchSize: number,
): Promise<{ rows: UnpublishedRow[]; hasMore: boolean }> {
  const { rows } = await pool.query<UnpublishedRow & { considered: number }>({
    name: 'outbox_lowest',
    text: `SELECT id, topic, key, event, considered FROM (
             SELECT id, topic, key, event, count(*) OVER ()::integer AS considered,
                    sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before
             FROM (SELECT id, topic, key, event, octet_length(event::text) AS bytes
                   FROM outbox WHERE topic = ANY($1) ORDER BY id LIMIT $2) AS lowest
           ) AS measured
           WHERE bytes_before < ${BATCH_BYTES_MAX} ORDER BY id`,
    values: [topicNames.flatMap((topic) => [topic, TOPICS[topic].name]), batchSize],
  });
  const considered = rows[0]?.considered ?? 0;
  return { rows, hasMore: rows.length < considered || considered === batchSize };
}
