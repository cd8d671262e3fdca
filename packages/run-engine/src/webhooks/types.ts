/** Who is to be told when a run is over. */
export interface WebhookTarget {
  /** Absolute, or a path of the project's own app. */
  url: string;
  /** With its port; empty for the project's own app. */
  host: string;
  /** Nothing is sent to it, for this reason. The run goes on as if it were. */
  refusal?: string;
}

export type WebhookStatus = 'pending' | 'delivered' | 'failed' | 'refused';

export interface WebhookAttempt {
  startedAt: Date;
  durationMs: number;
  /** Null when there was no answer. */
  statusCode: number | null;
  error: string | null;
}

/** One line of the log of deliveries. */
export interface WebhookDelivery {
  deliveryId: string;
  url: string;
  status: WebhookStatus;
  attempts: WebhookAttempt[];
  /** When it is tried next; null when it is over. */
  dueAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
}

/** A delivery that this process may try now, with everything to be told. */
export interface ClaimedWebhook {
  deliveryId: string;
  url: string;
  host: string;
  /** Number of this try. */
  attempt: number;
  run: WebhookRun;
  /** JSON text. */
  kwargs: Uint8Array;
  /** JSON text of the final values; null when the run left none. */
  values: Uint8Array | null;
}

/** A run as it ended. Times are ISO 8601 with the database's offset. */
export interface WebhookRun {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: string;
  metadata: Record<string, unknown>;
  multitask_strategy: string;
  error: { error: string; message: string } | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  ended_at: string;
}

/** How a try came out. */
export interface WebhookOutcome {
  deliveryId: string;
  attempt: number;
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  /** Milliseconds until the next try; null when there is none: `delivered` or `failed` for good. */
  retryInMs: number | null;
}
