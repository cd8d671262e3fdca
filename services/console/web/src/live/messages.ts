import type { Followed, LiveEvent } from './live-connection.ts';

/** A message of a window to the worker with the stream of all windows. */
export type FromPage =
  | { type: 'hello'; lock: string }
  | { type: 'follow'; number: number; followed: Followed }
  | { type: 'leave'; number: number }
  | { type: 'wake' };

/** A message of the worker to a window: an event of what it follows under this number. */
export interface FromWorker {
  number: number;
  event: LiveEvent;
}
