import { isUuid } from '@runyard/contracts';
import { toSqlJson, toSqlText } from '@runyard/database';
import type pg from 'pg';
import {
  BackendError,
  type ChannelHistory,
  type CheckpointKey,
  type CheckpointQuery,
  type PendingWrite,
  type SerializedValue,
  type StoredCheckpoint,
} from '../backend.ts';
import { toBackendError } from './backend-errors.ts';
import type { ChannelBlobs } from './channel-blobs.ts';
import { readChannelHistories } from './channel-histories.ts';
import { readNewestStreamPosition, type StreamPositionQuery } from './newest-stream-position.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';

/** A checkpoint and the places of its values, which puts of its children need. */
export interface ReadCheckpoint {
  stored: StoredCheckpoint;
  blobs: ChannelBlobs;
}

/** The run and assistant that made a checkpoint, from its metadata. */
export interface CheckpointOrigin {
  runId: string;
  assistantId: string | null;
}

/**
 * A row of the result: a checkpoint, a blob that at least one of them names, a write at one of them, or one that was
 * replaced there.
 */
interface Row {
  kind: 'checkpoint' | 'blob' | 'write' | 'replaced';
  thread_id: string;
  ns: string;
  id: string;
  type: string;
  data: Buffer;
  parent_id: string | null;
  metadata_type: string | null;
  metadata: Buffer | null;
  channel_blobs: ChannelBlobs | null;
  channel: string | null;
  version: string | null;
  task_id: string | null;
  /** The index of a write within its task, or the place of a checkpoint in the order of the list. */
  idx: number | null;
  /** True when the write is one of the reading run. */
  is_own: boolean | null;
}

/**
 * Reads checkpoints, their channel values and their writes in one round trip, however many they are. A blob that
 * several of the checkpoints share is sent once.
 *
 * @param run parameter with the id of the reading run, null for none: the writes that it has replaced are read too
 */
const wholeCheckpointsFor = (run: string) => `
  SELECT 'checkpoint' AS kind, thread_id, checkpoint_ns AS ns, checkpoint_id AS id, data_type AS type, data,
         parent_checkpoint_id AS parent_id, metadata_type, metadata_data AS metadata, channel_blobs,
         NULL AS channel, NULL AS version, NULL AS task_id, place AS idx, NULL::boolean AS is_own
  FROM c
  UNION ALL
  SELECT 'blob', b.thread_id, b.checkpoint_ns, b.checkpoint_id, b.type, b.data, NULL, NULL, NULL, NULL, b.channel, b.version,
         NULL, NULL, NULL
  FROM (
    SELECT DISTINCT c.thread_id, c.checkpoint_ns, named.key AS channel, named.value ->> 0 AS version,
           named.value ->> 1 AS checkpoint_id
    FROM c, jsonb_each(c.channel_blobs) AS named
  ) n
  JOIN checkpoint_blob b USING (thread_id, checkpoint_ns, channel, version, checkpoint_id)
  UNION ALL
  SELECT 'write', w.thread_id, w.checkpoint_ns, w.checkpoint_id, w.type, w.data, NULL, NULL, NULL, NULL, w.channel, NULL,
         w.task_id, w.idx, w.run_id = ${run}::uuid
  FROM c JOIN checkpoint_write w USING (thread_id, checkpoint_ns, checkpoint_id)
  UNION ALL
  SELECT 'replaced', r.thread_id, r.checkpoint_ns, r.checkpoint_id, r.type, r.data, NULL, NULL, NULL, NULL, r.channel, NULL,
         r.task_id, r.idx, NULL
  FROM c JOIN checkpoint_write_replaced r USING (thread_id, checkpoint_ns, checkpoint_id)
  WHERE r.run_id = ${run}::uuid`;

const COLUMNS_BUT_VALUES = `thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, data_type, data, metadata_type,
  metadata_data`;
const COLUMNS = `${COLUMNS_BUT_VALUES}, channel_blobs`;

const GET = {
  name: 'checkpoint_get',
  text: `WITH c AS MATERIALIZED (
    SELECT ${COLUMNS}, 1 AS place FROM checkpoint WHERE thread_id = $1 AND checkpoint_ns = $2 AND checkpoint_id = $4
  ) ${wholeCheckpointsFor('$3')}`,
};

const GET_NEWEST = {
  name: 'checkpoint_get_newest',
  text: `WITH c AS MATERIALIZED (
    SELECT ${COLUMNS}, 1 AS place FROM checkpoint WHERE thread_id = $1 AND checkpoint_ns = $2 ORDER BY checkpoint_id DESC LIMIT 1
  ) ${wholeCheckpointsFor('$3')}`,
};

/** Checkpoints of one page at most. */
const PAGE_MAX = 1_000;
/** Bytes of one page at most, unless its first checkpoint has more. All runs of a worker share its memory. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Returns SQL for the checkpoints of `found` that fit in one page with their values and writes. A value that several of
 * them share counts once, as it is sent once.
 */
const fittingFor = (run: string) => `
  named AS MATERIALIZED (
    SELECT min(f.place) AS place, f.thread_id, f.checkpoint_ns, named.key AS channel, named.value ->> 0 AS version,
           named.value ->> 1 AS checkpoint_id
    FROM found f CROSS JOIN LATERAL jsonb_each(f.channel_blobs) AS named GROUP BY 2, 3, 4, 5, 6
  ), value_bytes AS MATERIALIZED (
    -- One look by the whole key for each: a join may be planned as one with all values of the thread.
    SELECT n.place, sum((
      SELECT octet_length(b.data) FROM checkpoint_blob b
      WHERE b.thread_id = n.thread_id AND b.checkpoint_ns = n.checkpoint_ns AND b.channel = n.channel
        AND b.version = n.version AND b.checkpoint_id = n.checkpoint_id
    )) AS bytes FROM named n GROUP BY n.place
  ), sizes AS MATERIALIZED (
    SELECT f.place, octet_length(f.data) + coalesce(octet_length(f.metadata_data), 0) + coalesce(v.bytes, 0)
      + coalesce((SELECT sum(octet_length(w.data)) FROM checkpoint_write w
                  WHERE (w.thread_id, w.checkpoint_ns, w.checkpoint_id) = (f.thread_id, f.checkpoint_ns, f.checkpoint_id)), 0)
      + coalesce((SELECT sum(octet_length(r.data)) FROM checkpoint_write_replaced r
                  WHERE (r.thread_id, r.checkpoint_ns, r.checkpoint_id) = (f.thread_id, f.checkpoint_ns, f.checkpoint_id)
                    AND r.run_id = ${run}::uuid), 0) AS bytes
    FROM found f LEFT JOIN value_bytes v USING (place)
  ), c AS MATERIALIZED (
    SELECT found.* FROM found JOIN (SELECT place, sum(bytes) OVER (ORDER BY place) AS bytes FROM sizes) AS up_to USING (place)
    WHERE place = 1 OR up_to.bytes <= ${PAGE_BYTES_MAX}
  )`;

/** Reads need no fence: committed rows were written by the owner of the thread at that time. */
export class CheckpointReader {
  readonly #pool: pg.Pool;
  readonly #retryMs: number;

  /** @param retryMs milliseconds for which a read is retried while Postgres is unavailable */
  constructor(pool: pg.Pool, retryMs = 0) {
    this.#pool = pool;
    this.#retryMs = retryMs;
  }

  /** @param runId the reading run, if any */
  async get(
    threadId: string,
    namespace: string,
    checkpointId?: string,
    runId: string | null = null,
  ): Promise<ReadCheckpoint | undefined> {
    // Threads have uuids: any other id does not exist, and Postgres would refuse the query.
    if (!isUuid(threadId)) return undefined;
    const values = [threadId, toSqlText(namespace), runId];
    const query =
      checkpointId === undefined ? { ...GET_NEWEST, values } : { ...GET, values: [...values, toSqlText(checkpointId)] };
    const [checkpoint] = wholeCheckpoints(await this.#rows(query));
    return checkpoint;
  }

  /** Returns a page, as `CheckpointBackend.list` does. */
  async list(query: CheckpointQuery, runId: string | null = null): Promise<ReadCheckpoint[]> {
    const { threadId, namespace, checkpointId, beforeCheckpointId, after, filter, limit, withoutValuesOf = [] } = query;
    if (threadId !== undefined && !isUuid(threadId)) return [];
    if (after !== undefined && !isUuid(after.threadId)) return [];
    const values: unknown[] = [];
    const given = (value: unknown) => `$${values.push(value)}`;
    const conditions = ['true'];
    if (threadId !== undefined) conditions.push(`thread_id = ${given(threadId)}`);
    if (namespace !== undefined) conditions.push(`checkpoint_ns = ${given(toSqlText(namespace))}`);
    if (checkpointId !== undefined) conditions.push(`checkpoint_id = ${given(toSqlText(checkpointId))}`);
    if (beforeCheckpointId !== undefined) conditions.push(`checkpoint_id < ${given(toSqlText(beforeCheckpointId))}`);
    if (after !== undefined) {
      const id = given(toSqlText(after.checkpointId));
      const place = `(${given(after.threadId)}::uuid, ${given(toSqlText(after.namespace))})`;
      conditions.push(`checkpoint_id <= ${id} AND (checkpoint_id < ${id} OR (thread_id, checkpoint_ns) > ${place})`);
    }
    if (filter && Object.keys(filter).length > 0) conditions.push(`metadata @> ${given(toSqlJson(filter))}::jsonb`);
    const run = given(runId);
    const columns =
      withoutValuesOf.length > 0
        ? `${COLUMNS_BUT_VALUES}, channel_blobs - ${given(withoutValuesOf.map(toSqlText))}::text[] AS channel_blobs`
        : COLUMNS;
    // Ids are unique within a thread alone: a copy has those of its source.
    const order = 'ORDER BY checkpoint_id DESC, thread_id, checkpoint_ns';
    const found = `SELECT ${columns}, row_number() OVER (${order})::int AS place FROM checkpoint
      WHERE ${conditions.join(' AND ')} ${order} LIMIT ${given(Math.min(limit ?? PAGE_MAX, PAGE_MAX))}`;
    // One checkpoint always fits.
    const page = limit === 1 ? `c AS MATERIALIZED (${found})` : `found AS MATERIALIZED (${found}), ${fittingFor(run)}`;
    const text = `WITH ${page} ${wholeCheckpointsFor(run)}`;
    return wholeCheckpoints(await this.#rows({ text, values }));
  }

  async channelHistories(key: CheckpointKey, channels: string[]): Promise<ChannelHistory[]> {
    if (!isUuid(key.threadId)) return channels.map((channel) => ({ channel, writes: [] }));
    return this.#read(() => readChannelHistories(this.#pool, key, channels));
  }

  /** Returns whether a thread has a checkpoint. */
  async has({ threadId, namespace, checkpointId }: CheckpointKey): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      name: 'checkpoint_exists',
      text: 'SELECT 1 FROM checkpoint WHERE thread_id = $1 AND checkpoint_ns = $2 AND checkpoint_id = $3',
      values: [threadId, toSqlText(namespace), toSqlText(checkpointId)],
    });
    return rowCount === 1;
  }

  /** Returns the id of a thread's newest checkpoint of the root graph. */
  async newestId(threadId: string): Promise<string | undefined> {
    const { rows } = await this.#pool.query<{ checkpoint_id: string }>({
      name: 'checkpoint_newest_id',
      text: `SELECT checkpoint_id FROM checkpoint WHERE thread_id = $1 AND checkpoint_ns = ''
             ORDER BY checkpoint_id DESC LIMIT 1`,
      values: [threadId],
    });
    return rows[0]?.checkpoint_id;
  }

  /**
   * Returns the run that made the newest checkpoint by a run in a thread's root graph. In a copied thread it is a run
   * of the source.
   */
  async newestOrigin(threadId: string): Promise<CheckpointOrigin | undefined> {
    const { rows } = await this.#pool.query<{ run_id: string; assistant_id: string | null }>({
      name: 'checkpoint_newest_origin',
      text: `SELECT metadata ->> 'run_id' AS run_id, metadata ->> 'assistant_id' AS assistant_id
             FROM checkpoint WHERE thread_id = $1 AND checkpoint_ns = '' AND metadata ? 'run_id'
             ORDER BY checkpoint_id DESC LIMIT 1`,
      values: [threadId],
    });
    const [row] = rows;
    return row && isUuid(row.run_id) ? { runId: row.run_id, assistantId: row.assistant_id } : undefined;
  }

  newestStreamPosition(query: StreamPositionQuery): Promise<number | undefined> {
    return this.#read(() => readNewestStreamPosition(this.#pool, query));
  }

  #rows(query: pg.QueryConfig): Promise<Row[]> {
    return this.#read(async () => (await this.#pool.query<Row>(query)).rows);
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await retryWhileUnavailable(this.#retryMs, read);
    } catch (error) {
      throw toBackendError(error);
    }
  }
}

function wholeCheckpoints(rows: Row[]): ReadCheckpoint[] {
  const blobs = new Map<string, SerializedValue>();
  for (const row of rows) {
    if (row.kind === 'blob') blobs.set(blobName(row, row.channel, row.version, row.id), serialized(row));
  }
  const writes = rowsByCheckpoint(rows, 'write');
  const replaced = rowsByCheckpoint(rows, 'replaced');
  return rows
    .filter(({ kind }) => kind === 'checkpoint')
    .sort((a, b) => (a.idx ?? 0) - (b.idx ?? 0))
    .map((row) => {
      const named = row.channel_blobs ?? {};
      const written = writes.get(checkpointName(row)) ?? [];
      const before = interruptsBeforeRun(written, replaced.get(checkpointName(row)) ?? []);
      return {
        blobs: named,
        stored: {
          key: { threadId: row.thread_id, namespace: row.ns, checkpointId: row.id },
          ...(row.parent_id !== null && { parentCheckpointId: row.parent_id }),
          checkpoint: serialized(row),
          metadata: { type: row.metadata_type ?? '', data: row.metadata ?? Buffer.alloc(0) },
          channelValues: Object.entries(named).map(([channel, [version, writer]]) => {
            const value = blobs.get(blobName(row, channel, version, writer));
            if (!value) throw missingValueError(channel);
            return { channel, value };
          }),
          pendingWrites: pendingWrites(written),
          ...(before && { interruptsBeforeRun: pendingWrites(before) }),
        },
      };
    });
}

/** A value that got lost must not read as an empty channel: the next run would go on from that, and store it. */
function missingValueError(channel: string): BackendError {
  return new BackendError('unreadable', `The value of channel "${channel}" is missing in the database.`);
}

function rowsByCheckpoint(rows: Row[], kind: Row['kind']): Map<string, Row[]> {
  const byCheckpoint = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.kind !== kind) continue;
    const known = byCheckpoint.get(checkpointName(row));
    if (known) known.push(row);
    else byCheckpoint.set(checkpointName(row), [row]);
  }
  return byCheckpoint;
}

/** Returns the interrupts without those of the reading run, and with those that it replaced. */
function interruptsBeforeRun(written: Row[], replaced: Row[]): Row[] | undefined {
  const interrupts = written.filter(isOfInterrupt);
  if (!interrupts.some((row) => row.is_own)) return undefined;
  return [...interrupts.filter((row) => !row.is_own), ...replaced.filter(isOfInterrupt)];
}

function isOfInterrupt({ channel }: Row): boolean {
  return channel === '__interrupt__' || channel === '__resume__';
}

function checkpointName({ thread_id, ns, id }: Row): string {
  return JSON.stringify([thread_id, ns, id]);
}

/** Returns writes by task and, within a task, by index: the order does not depend on when they were stored. */
function pendingWrites(rows: Row[]): PendingWrite[] {
  return rows
    .sort((a, b) => compareText(a.task_id ?? '', b.task_id ?? '') || (a.idx ?? 0) - (b.idx ?? 0))
    .map((row) => ({ taskId: row.task_id ?? '', channel: row.channel ?? '', value: serialized(row) }));
}

function blobName(row: Row, channel: string | null, version: string | null, writer: string): string {
  return JSON.stringify([row.thread_id, row.ns, channel, version, writer]);
}

function serialized({ type, data }: Row): SerializedValue {
  return { type, data };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
