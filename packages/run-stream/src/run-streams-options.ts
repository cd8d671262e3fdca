import type { StreamGap } from './types.ts';

export interface RunStreamsOptions {
  /** Redis URL. */
  redis: string;
  /** Before every key and channel; one per deployment. */
  keyPrefix: string;
  /** What a command may take before it counts as failed. Default 2 s. */
  timeoutMs?: number;
  /** Entries a thread keeps at most, about. Default 50,000. */
  maxEntriesPerThread?: number;
  /** Bytes of them it keeps at most, to a megabyte; what is appended at once stays, however large. Default 256 MiB. */
  maxBytesPerThread?: number;
  /** A reader was told that events it should have had are missing. */
  onGap?: (reason: StreamGap['reason']) => void;
  /** Told how many entries went because a thread had more than it may keep. */
  onTrim?: (entries: number) => void;
  /** How long a resumable run's events live after its last. Default 120 s. */
  resumableTtlMs?: number;
  /** The same for other runs: what a slow reader may lag behind at the end. Default 10 s. */
  graceMs?: number;
  /** How long the newest epoch is remembered after the last events are gone. Default 180 s, several leases. */
  fenceTtlMs?: number;
  /** When a stream nobody appends to or ends is given up. Default 24 h, the longest run. */
  idleTtlMs?: number;
  /** Live events that wait for one slow reader, before it reads from the stream instead. Default 256 KiB. */
  readerBufferBytes?: number;
  /** The same for all readers of the process, with what they have read of streams. Default 64 MiB. */
  readersBufferBytes?: number;
}

export type StreamSettings = Required<RunStreamsOptions>;

export function withDefaults(options: RunStreamsOptions): StreamSettings {
  return {
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
