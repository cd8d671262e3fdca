import type { LogLevel } from '@runyard/contracts';

/** An event of `deploy`: with `--json` one per line, else a line for the user. */
export type ProgressEvent =
  | { event: 'step'; step: number; message: string }
  | { event: 'info' | 'note' | 'warn'; message: string; [detail: string]: unknown }
  | { event: 'error'; message: string; exit_code: number }
  /** The revision's status changed; `heartbeat`: it is unchanged. */
  | { event: 'status_change' | 'heartbeat'; status: string; elapsed_seconds: number; message: string }
  /** A line of a build or server. */
  | { event: 'log'; message: string; level: LogLevel }
  | { event: 'upload_progress'; size_mb: number; pct: number }
  /** URL of the revision's status. */
  | { event: 'status_url'; url: string }
  | ResultEvent;

export interface ResultEvent {
  event: 'result';
  /** `triggered`: the command does not wait. `superseded`: a newer revision replaced it. */
  status: 'succeeded' | 'failed' | 'superseded' | 'timed_out' | 'triggered';
  message: string;
  deployment_id?: string;
  /** The image that was built. */
  image?: string;
  revision_id?: string;
  revision_status?: string;
  /** URL of the deployment. */
  url?: string;
  status_url?: string;
}

export interface Progress {
  report(event: ProgressEvent): void;
  /** Removes the temporary line. */
  close(): void;
}

/** Formats a duration: `42s`, `3m 05s`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.floor(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes > 0 ? `${minutes}m ${String(whole % 60).padStart(2, '0')}s` : `${whole}s`;
}
