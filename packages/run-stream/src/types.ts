/** One entry of a thread's stream. `id` is the Redis Stream id, `<ms>-<seq>`. */
export interface StreamEntry {
  id: string;
  runId: string;
  attempt: number;
  /** True when its run was created as resumable: its stored entries are available to later readers. */
  isResumable: boolean;
  /** The stream mode the event belongs to (`values`, `updates`, `messages`, …), or one of the engine's own kinds. */
  kind: string;
  /**
   * The name in the SSE `event:` field: the mode, with `|namespace` for subgraphs, or names like `messages/partial`.
   */
  event: string;
  /** JSON text. */
  data: string;
}

/** Entries that the platform itself makes; clients never get them unchanged. */
export const CONTROL_KINDS = {
  /** A run reached a terminal status; data is `{"status", "values"?}`, with the values when they are small. */
  end: 'run.end',
  /**
   * Events are missing here; data is a `StreamGap`. Readers of a run get it too when nobody knows whether the missing
   * events were that run's. The stream goes on at its id, so a resume after it does not report the same gap again.
   */
  gap: 'stream.gap',
  /** The thread's state was written from outside a run; data is what clients of the thread's stream get. */
  state: 'thread.state',
} as const;

/** The reason and the place of missing events. */
export interface StreamGap {
  /**
   * `expired`: deleted by age or size, or Redis was emptied. `lost`: Redis did not accept them when they happened,
   * or they cannot be decrypted here. `too_large`: one event, with this name and so many `bytes`, exceeded the limit.
   */
  reason: 'expired' | 'lost' | 'too_large';
  /** The last id that the reader has; null when it began at the start or has everything else. */
  after: string | null;
  event?: string;
  bytes?: number;
}

export interface AppendEvent {
  runId: string;
  attempt: number;
  kind: string;
  event: string;
  /** JSON text. */
  data: string;
}

/**
 * The right to append to a thread's stream; an epoch older than the newest seen is refused. An epoch is a time in
 * milliseconds since 1970: ids are never below it.
 */
export interface StreamFence {
  threadId: string;
  epoch: bigint;
}

export interface AppendOptions {
  /** True when the run's events outlive it for the resumable time. It must be the same in every append of a run. */
  resumable: boolean;
  /** True when these are the run's last events: its time to live starts now, as with `expire`. */
  endsRun?: boolean;
  /** The run's position behind these events, a number that the caller defines. The stream remembers the last one. */
  position?: number;
}

export interface ReadOptions {
  /**
   * The position after which entries are read: `<ms>-<seq>`, a bare `<ms>`, `-1` for the oldest stored, `$` for later
   * ones only. Default: the run's first entry with `runId`, else the oldest stored.
   */
  afterId?: string;
  /** Limits the entries to this run. */
  runId?: string;
  /** Ends the reading at once. */
  signal?: AbortSignal;
  /**
   * Aborts when nothing more of interest will be appended: the remaining entries are read, then the reading ends. When
   * they cannot be read within two seconds, a gap is reported.
   */
  drainSignal?: AbortSignal;
}

/** The stream's knowledge of one of its runs, while entries of that run or later ones of the thread are stored. */
export interface RunStreamState {
  /** True when it has appended something. */
  hasBegun: boolean;
  /** True when its end was appended. Known for minutes after that, even when the entries are deleted. */
  hasEnd: boolean;
  /** The newest id of the whole thread. */
  newestId: string;
}

/** Tells workers to read their cancel orders: the durable row has the order, and this only makes it quick. */
export interface CancelSignal {
  runId: string;
  threadId: string;
}
