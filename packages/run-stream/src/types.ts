/** One entry of a thread's stream. `id` is the Redis Stream id, `<ms>-<seq>`. */
export interface StreamEntry {
  id: string;
  runId: string;
  attempt: number;
  /** Whether its run was created to be resumable: what is kept of it is there for everybody who comes later. */
  isResumable: boolean;
  /** The stream mode the event belongs to (`values`, `updates`, `messages`, …), or one of the engine's own kinds. */
  kind: string;
  /** The name in the SSE `event:` field: the mode, with `|namespace` for subgraphs, or `messages/partial` and the like. */
  event: string;
  /** JSON text. */
  data: string;
}

/** Entries the platform itself makes; never sent as they are. */
export const CONTROL_KINDS = {
  /** A run reached a terminal status; data `{"status", "values"?}` with the values when they are small. */
  end: 'run.end',
  /**
   * Events are missing here; data is a `StreamGap`. Readers of a run get it too when it is not known whether the missing
   * events were that run's. Its id is where the stream goes on, so a resume after it does not tell the same gap again.
   */
  gap: 'stream.gap',
  /** The thread's state was written from outside a run; data is what clients of the thread's stream get. */
  state: 'thread.state',
} as const;

/** Why and where events are missing. */
export interface StreamGap {
  /**
   * `expired`: no longer kept, or Redis was emptied. `lost`: Redis could not take them when they happened. `too_large`: one
   * message, of so many `bytes` and that name, was more than is delivered.
   */
  reason: 'expired' | 'lost' | 'too_large';
  /** The last id the reader has, null when it began at the start or has everything else. */
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

/** The right to append to a thread's stream; an older epoch than the newest seen is refused. */
export interface StreamFence {
  threadId: string;
  epoch: bigint;
}

export interface AppendOptions {
  /** Whether the run's events outlive it for the resumable time. The same in every append of a run. */
  resumable: boolean;
  /** The last event id known in Postgres: ids stay above it also when Redis was emptied. */
  lastKnownId?: string;
  /** These are the run's last events: its time to live starts now, as with `expire`. */
  endsRun?: boolean;
}

export interface ReadOptions {
  /**
   * Only entries after this id: `<ms>-<seq>`, a bare `<ms>`, `-1` for the oldest kept, `$` for those appended from now on.
   * Left out: from the run's first entry with `runId`, else from the oldest kept.
   */
  afterId?: string;
  /** Only entries of this run. */
  runId?: string;
  /** Ends the reading. */
  signal?: AbortSignal;
  /**
   * Nothing more will be appended of interest: what is there is read out, then the reading ends. When it cannot be read out within
   * two seconds, that is told as a gap.
   */
  over?: AbortSignal;
}

/** What a thread's stream knows of one of its runs, while that or something later of the thread is kept. */
export interface ToldOfRun {
  /** It has appended something. */
  hasBegun: boolean;
  /** Its end was appended. Known for minutes after that, also when the entries are gone. */
  hasEnd: boolean;
  /** Of the whole thread. */
  newestId: string;
}

/** "Look at your cancel orders": the durable row says what to do, this only makes it quick. */
export interface CancelSignal {
  runId: string;
  threadId: string;
}
