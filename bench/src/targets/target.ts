import type { Endpoint } from '../load/client.ts';

/** A server under measurement. */
export interface Target extends Endpoint {
  name: string;
  /** Whose `/metrics` say what the stages of a run take. */
  observed: Endpoint[];
  /** The process that its processes are below, other targets' excepted; left out for one that was there before. */
  rootPid?: number;
  stop(): Promise<void>;
}
