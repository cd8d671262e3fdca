import { toSqlJson } from '@runyard/database';
import { ttlParameters } from './thread-ttl.ts';
import type { NewThread, ThreadTtl } from './types.ts';

/** A thread to be created, as it is stored. */
export interface EncodedThread {
  threadId: string;
  metadata: string;
  config: string;
  ttl: ReturnType<typeof ttlParameters>;
}

export function encodeThread(
  { threadId, metadata, config = {}, ttl }: NewThread & { threadId: string },
  defaultTtl: ThreadTtl | undefined,
): EncodedThread {
  const [storedMetadata, storedConfig] = [toSqlJson(metadata), toSqlJson(config)];
  return { threadId, metadata: storedMetadata, config: storedConfig, ttl: ttlParameters(ttl ?? defaultTtl) };
}
