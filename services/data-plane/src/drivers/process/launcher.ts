import type { ReplicaRole } from '@runyard/deployments';
import type { DriverOptions } from '../driver-row.ts';
import type { ChildWork, Launched } from './child.ts';
import type { ServiceAddress, SupervisionTimings } from './supervised-service.ts';

/** One service of a revision; each role has one or more. */
export interface Replica {
  role: ReplicaRole;
  /** Unique among the replicas of the revision: `agent-api`, `run-worker-2`. */
  name: string;
  /** The worker that is in the same process as this server. */
  worker?: Replica;
}

/** Launches the replicas of one revision, each any number of times. */
export interface Launcher {
  hasCustomAuth: boolean;
  /** Milliseconds that workers may go on after they were asked to end. */
  graceMs: number;
  /** True when the first agent-api and the first run-worker share a process. */
  sharesProcess?: boolean;
  findAddress(replica: Replica): Promise<ServiceAddress>;
  launch(replica: Replica, address: ServiceAddress, onLine: ChildWork['onLine']): Launched;
}

export interface SupervisionOptions extends Pick<DriverOptions, 'openLog' | 'running' | 'countsBefore' | 'logger'> {
  timings?: Partial<SupervisionTimings>;
}
