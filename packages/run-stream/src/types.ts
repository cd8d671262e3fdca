/** One entry of a thread's stream. `id` is the Redis Stream id, `<ms>-<seq>`. */
export interface StreamEntry {
  id: string;
  runId: string;
  attempt: number;
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
} as const;

export interface AppendEvent {
  runId: string;
  attempt: number;
  kind: string;
  event: string;
  data: string;
}
