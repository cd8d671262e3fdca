import type { CloudEvent, TopicName } from '@runyard/contracts';
import { toSqlJson } from '@runyard/database';
import type pg from 'pg';

export interface OutboxRow {
  topic: TopicName;
  /** The ordering key of the event; see `TOPICS`. */
  key: string;
  event: CloudEvent;
}

/**
 * Writes events into the outbox, in the transaction that makes them true; a relay publishes them after the commit.
 * Events of a key stay in order if transactions that write the same key exclude each other (a row lock on the key's
 * object).
 *
 * The table, for the migrations of the database: `CREATE TABLE outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY
 * KEY, topic text NOT NULL, key text NOT NULL, event jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now());`
 */
export async function insertIntoOutbox(client: pg.Pool | pg.ClientBase, rows: OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  await client.query({
    name: 'outbox_insert',
    text: `INSERT INTO outbox (topic, key, event)
           SELECT topic, key, event FROM unnest($1::text[], $2::text[], $3::jsonb[])
           WITH ORDINALITY AS row (topic, key, event, position) ORDER BY position`,
    values: [rows.map(({ topic }) => topic), rows.map(({ key }) => key), rows.map(({ event }) => toSqlJson(event))],
  });
}
