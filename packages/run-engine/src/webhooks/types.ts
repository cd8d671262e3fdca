import type { PushDelivery } from './push-types.ts';

/** A receiver of a run's end. */
export interface WebhookTarget {
  /** An absolute URL, or a path of the project's own app. */
  url: string;
  /** The host with its port; empty for the project's own app. */
  host: string;
  /** Why nothing is sent to it. The run is executed all the same. */
  refusal?: string;
}

type WebhookStatus = 'pending' | 'delivered' | 'failed' | 'refused';

export interface WebhookAttempt {
  startedAt: Date;
  durationMs: number;
  /** Null when there was no answer. */
  statusCode: number | null;
  error: string | null;
}

/** One entry in the log of deliveries. */
export interface WebhookDelivery {
  deliveryId: string;
  url: string;
  status: WebhookStatus;
  attempts: WebhookAttempt[];
  /** Time of the next try; null when there is none. */
  dueAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
  /** True while it can be sent, or sent again. */
  hasContent: boolean;
}

/** A delivery that this process may try now. */
export interface ClaimedWebhook {
  deliveryId: string;
  url: string;
  host: string;
  /** Number of this try. */
  attempt: number;
  /** Milliseconds since its run has ended. */
  waitedMs: number;
  /** Bytes of its content, as it is stored. */
  bytes: number;
  /**
   * Decrypts what is to be sent. Another try, or another process, may succeed where this one fails.
   *
   * @throws EncryptionError, and what the database throws
   */
  readContent(): Promise<WebhookContent>;
}

/** The whole content of a delivery. */
export interface WebhookContent {
  run: WebhookRun;
  /** JSON text of the run's arguments. */
  kwargs: Uint8Array;
  /** JSON text of the final values; null when the run left none. */
  values: Uint8Array | null;
  /** Set when it is a push notification of a task; null for a webhook. */
  push: PushDelivery | null;
}

/** A run at its end. Times are ISO 8601 with the database's offset. */
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

/** The result of a try. */
export interface WebhookOutcome {
  deliveryId: string;
  attempt: number;
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  /** Milliseconds until the next try; null when there is none: `delivered`, or finally `failed`. */
  retryInMs: number | null;
}
