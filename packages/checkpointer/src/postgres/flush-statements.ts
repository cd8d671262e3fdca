import { HELD_FENCES } from './held-fences.ts';

/**
 * Writes a flush and returns the positions of the fences that are held. Parameters: those of `FlushRows` in its order;
 * $35 has all bytes, and each row uses its part; $36 and $37 are the stream positions of checkpoints and writes.
 */
export const FLUSH = {
  name: 'checkpoint_flush',
  text: `
  WITH ${HELD_FENCES},
  put_checkpoints AS (
    INSERT INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, run_id, data_type, data,
                            metadata, metadata_type, metadata_data, channel_blobs, stream_position)
    SELECT h.thread_id, c.ns, c.id, c.parent_id, h.run_id, c.type, substring($35::bytea FROM c.at FOR c.length),
           convert_from(substring($35::bytea FROM c.searchable_at FOR c.searchable_length), 'UTF8')::jsonb,
           c.metadata_type, substring($35::bytea FROM c.metadata_at FOR c.metadata_length),
           c.channel_blobs::jsonb, c.stream_position
    FROM unnest($4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::int[], $11::int[],
                $12::int[], $13::text[], $14::int[], $15::int[], $16::text[], $36::bigint[])
         AS c(fence, ns, id, parent_id, type, at, length, searchable_at, searchable_length, metadata_type, metadata_at,
              metadata_length, channel_blobs, stream_position)
    JOIN held h ON h.position = c.fence
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) DO UPDATE SET
      -- One that is put again names itself.
      parent_checkpoint_id = CASE WHEN excluded.parent_checkpoint_id = excluded.checkpoint_id
                                  THEN checkpoint.parent_checkpoint_id ELSE excluded.parent_checkpoint_id END,
      data_type = excluded.data_type,
      data = excluded.data, metadata = excluded.metadata, metadata_type = excluded.metadata_type,
      metadata_data = excluded.metadata_data, channel_blobs = excluded.channel_blobs,
      stream_position = excluded.stream_position
    -- With durability exit a run that got no step further puts the checkpoint again that it began at. It stays the run's that
    -- made it: a rollback would take it away with the others of the run.
    WHERE checkpoint.run_id IS NOT DISTINCT FROM excluded.run_id
  ),
  put_blobs AS (
    INSERT INTO checkpoint_blob (thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data)
    SELECT h.thread_id, b.ns, b.channel, b.version, b.id, b.type, substring($35::bytea FROM b.at FOR b.length)
    FROM unnest($17::int[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::int[], $24::int[])
         AS b(fence, ns, id, channel, version, type, at, length)
    JOIN held h ON h.position = b.fence
    ON CONFLICT (thread_id, checkpoint_ns, channel, version, checkpoint_id) DO UPDATE SET
      type = excluded.type, data = excluded.data
  ),
  -- What a rollback of the run has to put back.
  replaced AS (
    INSERT INTO checkpoint_write_replaced (thread_id, run_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, written_by,
                                           channel, type, data)
    SELECT o.thread_id, h.run_id, o.checkpoint_ns, o.checkpoint_id, o.task_id, o.idx, o.task_path, o.run_id, o.channel, o.type,
           o.data
    FROM unnest($25::int[], $26::text[], $27::text[], $28::text[], $29::int[]) AS w(fence, ns, id, task_id, idx)
    JOIN held h ON h.position = w.fence
    JOIN checkpoint_write o ON o.thread_id = h.thread_id AND o.checkpoint_ns = w.ns AND o.checkpoint_id = w.id
                           AND o.task_id = w.task_id AND o.idx = w.idx
    WHERE w.idx < 0 AND h.run_id IS NOT NULL AND o.run_id IS DISTINCT FROM h.run_id
    ON CONFLICT DO NOTHING
  ),
  put_writes AS (
    INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, run_id, channel, type,
                                  data, stream_position)
    SELECT h.thread_id, w.ns, w.id, w.task_id, w.idx, w.task_path, h.run_id, w.channel, w.type,
           substring($35::bytea FROM w.at FOR w.length), w.stream_position
    FROM unnest($25::int[], $26::text[], $27::text[], $28::text[], $29::int[], $30::text[], $31::text[], $32::text[],
                $33::int[], $34::int[], $37::bigint[])
         AS w(fence, ns, id, task_id, idx, task_path, channel, type, at, length, stream_position)
    JOIN held h ON h.position = w.fence
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO UPDATE SET
      task_path = excluded.task_path, run_id = excluded.run_id, channel = excluded.channel, type = excluded.type,
      data = excluded.data, stream_position = excluded.stream_position
    WHERE excluded.idx < 0
  )
  SELECT position FROM held`,
};

/** Reads the blobs of the parents of new checkpoints. */
export const PARENT_BLOBS = {
  name: 'checkpoint_parent_blobs',
  text: `
  SELECT k.position::int, c.channel_blobs
  FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS k(thread_id, ns, id, position)
  JOIN checkpoint c ON c.thread_id = k.thread_id AND c.checkpoint_ns = k.ns AND c.checkpoint_id = k.id`,
};
