import type pg from 'pg';

export interface GeneratedData {
  /** Threads with one checkpoint each. */
  threads: number;
  /** Checkpoints of the one long thread. */
  longHistory: number;
}

/** The number of owners; each has an equal share of the threads. */
export const OWNERS = 1_000;

const BATCH = 100_000;

/**
 * Fills a deployment's database: threads of a year, of a thousand owners, most of them idle, each with a state of about
 * a kilobyte and the checkpoint and channel value of `templateId`, a thread made by the service itself. The template
 * becomes the long one.
 */
export async function generate(
  db: pg.Client,
  { threads, longHistory }: GeneratedData,
  templateId: string,
  say: (line: string) => void,
): Promise<void> {
  // A crash of the machine that loses these writes ends the measurement anyway.
  await db.query("SET synchronous_commit = off; SET work_mem = '256MB'");
  for (let from = 0; from < threads; from += BATCH) {
    const to = Math.min(threads, from + BATCH);
    await db.query(THREADS, [from, to - 1]);
    await db.query(STATES, [from, to - 1]);
    await db.query(
      'INSERT INTO thread_fence (thread_id) SELECT md5(n::text)::uuid FROM generate_series($1::int, $2::int) n',
      [from, to - 1],
    );
    await db.query(CHECKPOINTS, [from, to - 1, templateId]);
    await db.query(BLOBS, [from, to - 1, templateId]);
    say(`${to} threads`);
  }
  await db.query(LONG_HISTORY, [templateId, longHistory]);
  await db.query(LONG_HISTORY_BLOBS, [templateId, longHistory]);
  await db.query('VACUUM ANALYZE');
}

const THREADS = `
  INSERT INTO thread (thread_id, status, metadata, created_at, updated_at, state_updated_at)
  SELECT md5(n::text)::uuid,
         CASE WHEN n % 100 < 90 THEN 'idle' WHEN n % 100 < 96 THEN 'interrupted' WHEN n % 100 < 99 THEN 'error' ELSE 'busy' END,
         jsonb_build_object('owner', 'user-' || (hashint4(n) & 1023) % ${OWNERS}, 'graph_id', 'echo', 'assistant_id', md5((n % 7)::text)::uuid,
                            'region', CASE WHEN n % 2 = 0 THEN 'eu' ELSE 'us' END, 'serial', n,
                            'tags', jsonb_build_array('tag-' || n % 50, 'tag-' || n % 333)),
         at, at + random() * interval '1 day', at + random() * interval '12 hours'
  FROM generate_series($1::int, $2::int) n,
       LATERAL (SELECT now() - interval '1 year' * ((hashint4(n + 7) & 1048575) / 1048576.0) AS at) made`;

const STATES = `
  INSERT INTO thread_state (thread_id, checkpoint_id, "values")
  SELECT md5(n::text)::uuid, '1f1e6c2a-6b1f-6f40-8001-3c2f0a9d4e11',
         convert_to(json_build_object('messages', json_build_array(json_build_object(
           'type', 'human', 'id', 'm' || n, 'additional_kwargs', json_build_object(), 'response_metadata', json_build_object(),
           'content', repeat(md5(n::text) || ' ', 28))))::text, 'UTF8')
  FROM generate_series($1::int, $2::int) n`;

const CHECKPOINTS = `
  INSERT INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, data_type, data, metadata, metadata_type, metadata_data,
                          channel_blobs)
  SELECT md5(n::text)::uuid, c.checkpoint_ns, c.checkpoint_id, c.data_type, c.data, c.metadata, c.metadata_type,
         c.metadata_data, c.channel_blobs
  FROM generate_series($1::int, $2::int) n,
       LATERAL (SELECT * FROM checkpoint WHERE thread_id = $3 ORDER BY checkpoint_id DESC LIMIT 1) c`;

const BLOBS = `
  INSERT INTO checkpoint_blob (thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data)
  SELECT md5(n::text)::uuid, b.checkpoint_ns, b.channel, b.version, b.checkpoint_id, b.type, b.data
  FROM generate_series($1::int, $2::int) n, checkpoint_blob b
  WHERE b.thread_id = $3`;

/** Ids older than the template's own, so that its newest state stays the newest; each has a value of its own. */
const EARLIER = `lpad(to_hex(n), 8, '0') || substr(c.checkpoint_id, 9)`;

const LONG_HISTORY = `
  INSERT INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, data_type, data, metadata, metadata_type,
                          metadata_data, channel_blobs)
  SELECT c.thread_id, '', ${EARLIER}, NULL, c.data_type,
         convert_to(replace(convert_from(c.data, 'UTF8'), c.checkpoint_id, ${EARLIER}), 'UTF8'), c.metadata, c.metadata_type,
         c.metadata_data,
         (SELECT jsonb_object_agg(key, jsonb_build_array(value ->> 0, ${EARLIER})) FROM jsonb_each(c.channel_blobs))
  FROM generate_series(1, $2::int) n,
       LATERAL (SELECT * FROM checkpoint WHERE thread_id = $1 ORDER BY checkpoint_id DESC LIMIT 1) c`;

const LONG_HISTORY_BLOBS = `
  INSERT INTO checkpoint_blob (thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data)
  SELECT c.thread_id, '', c.channel, c.version, ${EARLIER}, c.type, c.data
  FROM generate_series(1, $2::int) n, (SELECT * FROM checkpoint_blob WHERE thread_id = $1) c`;
