import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { CheckpointBackend, CheckpointKey, PostgresCheckpoints } from '../src/index.ts';
import { takeOver } from './deployment-database.ts';

/**
 * A backend for suites that do not know fences and choose their own thread names: takes each thread over before its
 * first write, and gives Postgres a uuid for a name that is none.
 */
export function anyThreadBackend(pool: pg.Pool, checkpoints: PostgresCheckpoints): CheckpointBackend {
  const owned = new Map<string, Promise<CheckpointBackend>>();
  const names = new Map<string, string>();
  const reads = checkpoints.readOnly();

  const uuidOf = (name: string) => {
    if (/^[0-9a-f]{8}-/.test(name)) return name;
    const hash = createHash('sha256').update(name).digest('hex');
    const uuid = hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
    names.set(uuid, name);
    return uuid;
  };
  const owner = (threadId: string) => {
    let backend = owned.get(threadId);
    if (!backend) {
      backend = takeOver(pool, { threadId }).then((fence) => checkpoints.forRun(fence));
      owned.set(threadId, backend);
    }
    return backend;
  };
  /** Returns the run that has written to a thread, else what reads for nobody. */
  const reader = (threadId: string | undefined) => (threadId && owned.get(threadId)) || reads;
  const inside = (key: CheckpointKey) => ({ ...key, threadId: uuidOf(key.threadId) });
  const outside = <Stored extends { key: CheckpointKey }>(stored: Stored): Stored => ({
    ...stored,
    key: { ...stored.key, threadId: names.get(stored.key.threadId) ?? stored.key.threadId },
  });

  return {
    async get(threadId, namespace, checkpointId) {
      const uuid = uuidOf(threadId);
      const stored = await (await reader(uuid)).get(uuid, namespace, checkpointId);
      return stored && outside(stored);
    },
    async list(query) {
      const threadId = query.threadId && uuidOf(query.threadId);
      const after = query.after && inside(query.after);
      return (await (await reader(threadId)).list({ ...query, threadId, after })).map(outside);
    },
    channelHistories: (key, channels) => reads.channelHistories?.(inside(key), channels) ?? Promise.resolve([]),
    async put(put) {
      const key = inside(put.key);
      await (await owner(key.threadId)).put({ ...put, key });
    },
    async putWrites(put) {
      const key = inside(put.key);
      await (await owner(key.threadId)).putWrites({ ...put, key });
    },
    async deleteThread(threadId) {
      await (await owner(uuidOf(threadId))).deleteThread(uuidOf(threadId));
    },
  };
}
