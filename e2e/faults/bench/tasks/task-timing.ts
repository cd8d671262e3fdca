/** Milliseconds between two tries of a client. */
export const RETRY_MS = 100;
/** Milliseconds without an end after which a task counts as endless. */
export const PATIENCE_MS = 90_000;
