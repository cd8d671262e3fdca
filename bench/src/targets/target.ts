import type { Endpoint } from '../load/client.ts';

/** A server under measurement. */
export interface Target extends Endpoint {
  name: string;
  /** Endpoints whose `/metrics` report the times of a run's stages. */
  observed: Endpoint[];
  /** The root of its processes, without those of other targets; left out for one that was running before. */
  rootPid?: number;
  stop(): Promise<void>;
}

/** One that the bench has started. */
export interface StartedTarget extends Target {
  rootPid: number;
}
