import type { Logger } from '@runyard/service-kit';
import type { OpenRevisionLog } from '../../logs/revision-log.ts';
import type { RunningRevisions } from '../running-revisions.ts';
import type { Counts, Role } from '../scale-bounds.ts';
import type { ChildOptions, Launched } from './child.ts';
import type { KeepingTimings, Place } from './kept-service.ts';

/** One service of a revision; each role has one or more. */
export interface Part {
  role: Role;
  /** Among the parts of the revision: `agent-api`, `run-worker-2`. */
  name: string;
}

/** Starts the parts of one revision, each as often as it has to be. */
export interface Launcher {
  hasCustomAuth: boolean;
  /** How long workers may go on after they were asked to end. */
  graceMs: number;
  findPlace(part: Part): Promise<Place>;
  launch(part: Part, place: Place, onLine: ChildOptions['onLine']): Launched;
}

export interface KeepingOptions {
  openLog: OpenRevisionLog;
  /** Has every revision that runs, from the start of its processes to the end of the last. */
  running: RunningRevisions;
  /** How many processes the deployment was given last. Left out: each revision begins with the least. */
  countsBefore?(deploymentId: string): Promise<Counts>;
  logger: Logger;
  timings?: Partial<KeepingTimings>;
}
