/**
 * One way to fail that a caller or an operator acts on. Its code is in logs, metrics and docs, and never in an answer.
 * A code outlives releases: alarms and dashboards name it.
 */
export interface ErrorEntry {
  /** The status of the answer; absent where no request is answered. */
  status?: number;
  /** Says in a sentence or two what has happened. */
  meaning: string;
  /** Says what the caller or the operator does. */
  remedy: string;
  /** The `reason` by which `http_requests_refused_total` counts it: the exceeded limit, or the unavailable part. */
  refusal?: string;
}
