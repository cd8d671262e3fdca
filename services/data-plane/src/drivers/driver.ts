import type { ResourceSpec } from '@runyard/contracts';
import type { Artifact, ReplicaRole } from '@runyard/deployments';

/** Everything a driver needs to run one revision. */
export interface RevisionSpec {
  deploymentId: string;
  revisionId: string;
  /**
   * True when no revision has run on the database yet. Then agent-api creates the tables before anything else starts.
   */
  isFirst: boolean;
  /** The cluster's namespace to run in, when its listener has several. */
  namespace?: string | undefined;
  artifact: Artifact;
  /** All URLs by which clients reach the deployment. */
  publicUrls: readonly string[];
  resources: ResourceSpec;
  /** Contains the password. */
  databaseUri: string;
  /** Contains the password of a user who reaches only keys that begin with `redisKeyPrefix`. */
  redisUri: string;
  redisKeyPrefix: string;
  /** The deployment's own variables. */
  secrets: Record<string, string>;
}

export interface RevisionStartOptions {
  /** Gives up the start and ends what was started so far. */
  signal: AbortSignal;
  timeoutMs: number;
  /** Called whenever the set of healthy base URLs changes, also after the start. */
  onUpstreams(urls: string[]): void;
}

/** A snapshot of one process of a revision. */
export interface RunningReplica {
  role: ReplicaRole;
  /** Unique among the replicas of the revision: `agent-api`, `run-worker-2`. */
  name: string;
  /** The base URL while it is healthy; null while it is not. */
  url: string | null;
  /** Null when it is no process of this machine. */
  pid: number | null;
  /** How many times it ended unexpectedly and was restarted. */
  restarts: number;
  /** Returns the resource usage of a replica that is no process of this machine; null when it is unknown. */
  measure?(): Promise<MeasuredUsage | null>;
}

export interface MeasuredUsage {
  /** Cores in use at the moment. */
  cpuCores: number;
  memoryBytes: number;
}

/** A revision whose processes are supervised. */
export interface RunningRevision {
  readonly deploymentId: string;
  readonly revisionId: string;
  readonly resources: ResourceSpec;
  /** True when it is draining; then it gets no new processes. */
  readonly isDraining: boolean;
  /** True when it keeps running when this process ends. */
  readonly outlivesProcess?: boolean;
  /** True when the cluster decides the number of processes within the bounds. */
  readonly isScaledByCluster?: boolean;
  /** True when the project authenticates its callers itself. */
  readonly hasCustomAuth: boolean;
  /** Base URLs of healthy agent-api processes. */
  readonly upstreams: string[];
  replicas(): RunningReplica[];
  /** Returns the number of processes of a role, including those that are starting. */
  countOf(role: ReplicaRole): number;
  /** Starts more processes of a role, or drains and ends the newest ones. */
  scale(role: ReplicaRole, count: number): void;
  /** Lets workers finish or hand back their runs within the revision's grace, then ends everything. */
  drain(): Promise<void>;
  /** Ends everything at once, by force after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** Stops supervising it and leaves it running. Only present when it outlives this process. */
  release?(): Promise<void>;
}

/** Runs revisions: as processes or containers of this machine, or in a cluster. */
export interface Driver {
  /**
   * Starts a revision and resolves when all its replicas are healthy. When it rejects, nothing of it is left running.
   *
   * @throws RevisionStartError when the revision itself is at fault
   */
  start(spec: RevisionSpec, options: RevisionStartOptions): Promise<RunningRevision>;
}
