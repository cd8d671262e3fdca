import type { LogLevel } from '@runyard/contracts';

/** What `deploy` tells while it works: with `--json` one of these per line, else a line for people. */
export type ProgressEvent =
  | { event: 'step'; step: number; message: string }
  | { event: 'info' | 'note' | 'warn'; message: string; [detail: string]: unknown }
  | { event: 'error'; message: string; exit_code: number }
  /** The revision has this status now; `heartbeat`: it still has. */
  | { event: 'status_change' | 'heartbeat'; status: string; elapsed_seconds: number; message: string }
  /** A line of a build or server. */
  | { event: 'log'; message: string; level: LogLevel }
  | { event: 'upload_progress'; size_mb: number; pct: number }
  /** Where the revision's status can be asked for. */
  | { event: 'status_url'; url: string }
  | ResultEvent;

export interface ResultEvent {
  event: 'result';
  /** `triggered`: nobody waits for it. `superseded`: a newer revision took its place. */
  status: 'succeeded' | 'failed' | 'superseded' | 'timed_out' | 'triggered';
  message: string;
  deployment_id: string;
  revision_id?: string;
  revision_status?: string;
  /** Where the deployment answers. */
  url?: string;
  status_url?: string;
}

export interface Progress {
  tell(event: ProgressEvent): void;
  /** Takes away what is drawn for the moment alone. */
  close(): void;
}

/** `42s`, `3m 05s`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.floor(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes > 0 ? `${minutes}m ${String(whole % 60).padStart(2, '0')}s` : `${whole}s`;
}
