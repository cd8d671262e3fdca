import { toSqlJson } from '@runyard/database';
import { ttlParameters } from './thread-ttl.ts';
import type { NewThread, ThreadRecord, ThreadTtl } from './types.ts';

/** A thread to be created, as it is stored. */
export interface EncodedThread {
  threadId: string;
  metadata: string;
  config: string;
  ttl: ReturnType<typeof ttlParameters>;
  status: ThreadRecord['status'];
}

/** Its id is in the form in which Postgres returns it: one id in two forms would be two in a batch. */
export function encodeThread(
  { threadId, metadata, config = {}, ttl, status }: NewThread & Pick<ThreadRecord, 'threadId' | 'status'>,
  defaultTtl: ThreadTtl | undefined,
): EncodedThread {
  const [storedMetadata, storedConfig] = [toSqlJson(metadata), toSqlJson(config)];
  return {
    threadId: threadId.toLowerCase(),
    metadata: storedMetadata,
    config: storedConfig,
    ttl: ttlParameters(ttl ?? defaultTtl),
    status,
  };
}
