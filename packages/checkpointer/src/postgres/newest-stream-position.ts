import type pg from 'pg';

/**
 * Finds the highest position among the checkpoints of a run and the writes that its next attempt may go on from: those at
 * its own checkpoints, and those at the checkpoint where it began, which is another run's when it answers an interrupt.
 */
const NEWEST_POSITION = {
  name: 'checkpoint_newest_stream_position',
  text: `
  WITH newest AS (
    SELECT checkpoint_id FROM checkpoint WHERE thread_id = $1 AND checkpoint_ns = ''
    ORDER BY checkpoint_id DESC LIMIT 1
  ),
  resumable AS (
    SELECT checkpoint_ns, checkpoint_id, stream_position FROM checkpoint WHERE run_id = $2 AND thread_id = $1
    UNION
    -- Checkpoints of subgraphs are made after that of the root graph that they belong to.
    SELECT checkpoint_ns, checkpoint_id, NULL FROM checkpoint
    WHERE thread_id = $1 AND checkpoint_id >= (SELECT checkpoint_id FROM newest)
  )
  SELECT greatest(
    (SELECT max(stream_position) FROM resumable WHERE stream_position < $3),
    (SELECT max(w.stream_position) FROM resumable r
     JOIN checkpoint_write w
       ON w.thread_id = $1 AND w.checkpoint_ns = r.checkpoint_ns AND w.checkpoint_id = r.checkpoint_id
     WHERE w.run_id = $2 AND w.stream_position < $3)
  ) AS position`,
};

export interface StreamPositionQuery {
  threadId: string;
  runId: string;
  /** The first position of the attempt that asks, which may have begun to write. */
  below: number;
}

/** Returns undefined when nothing durable of the run has such a position. */
export async function readNewestStreamPosition(
  pool: pg.Pool,
  { threadId, runId, below }: StreamPositionQuery,
): Promise<number | undefined> {
  const values = [threadId, runId, below];
  const { rows } = await pool.query<{ position: string | null }>({ ...NEWEST_POSITION, values });
  const position = rows[0]?.position ?? null;
  return position === null ? undefined : Number(position);
}
