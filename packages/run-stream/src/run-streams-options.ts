import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import type { StreamGap } from './types.ts';

export interface RunStreamsOptions {
  /** Redis URL. */
  redis: string;
  /** Prefix of every key and channel; one per deployment. */
  keyPrefix: string;
  /**
   * Encrypts what entries say of a graph; their runs stay readable. Entries that it cannot decrypt are read as a gap.
   * Default: no encryption.
   */
  cipher?: DataCipher;
  /** Milliseconds after which a command counts as failed. Default 2 s. */
  timeoutMs?: number;
  /** Approximate maximum number of entries per thread. Default 50,000. */
  maxEntriesPerThread?: number;
  /** Maximum bytes of them, to a megabyte; a single append stays, however large. Default 256 MiB. */
  maxBytesPerThread?: number;
  /** Is called when a reader gets a gap. */
  onGap?: (reason: StreamGap['reason']) => void;
  /** Is called with the number of entries that were trimmed because a thread exceeded its limits. */
  onTrim?: (entries: number) => void;
  /** Milliseconds for which a resumable run's events stay after its last one. Default 120 s. */
  resumableTtlMs?: number;
  /**
   * Milliseconds for which the events of other runs stay: a slow reader may lag behind by as much at the end. Default
   * 10 s.
   */
  graceMs?: number;
  /**
   * Milliseconds for which the newest epoch is remembered after the last events are deleted. Default 180 s, several
   * leases.
   */
  fenceTtlMs?: number;
  /** Milliseconds after which a stream is deleted that nobody appends to or ends. Default 24 h, the longest run. */
  idleTtlMs?: number;
  /** Bytes of live events that wait for one slow reader, before it reads from the stream instead. Default 256 KiB. */
  readerBufferBytes?: number;
  /** Bytes for all readers of the process, including pages of streams. Default 64 MiB. */
  readersBufferBytes?: number;
}

export type StreamSettings = Required<RunStreamsOptions>;

export function withDefaults(options: RunStreamsOptions): StreamSettings {
  return {
    cipher: NO_ENCRYPTION,
    timeoutMs: 2_000,
    maxEntriesPerThread: 50_000,
    maxBytesPerThread: 256 * 1024 * 1024,
    onGap: () => undefined,
    onTrim: () => undefined,
    resumableTtlMs: 120_000,
    graceMs: 10_000,
    fenceTtlMs: 180_000,
    idleTtlMs: 24 * 3_600_000,
    readerBufferBytes: 256 * 1024,
    readersBufferBytes: 64 * 1024 * 1024,
    ...options,
  };
}
