import type { ResourceSpec } from '@runyard/contracts';
import type { LocalProject } from '../sources/local-directory.ts';
import type { Role } from './scale-bounds.ts';

/** What a revision runs: a project on this machine's disk, or an image that holds one. */
export type Artifact = { kind: 'project'; project: LocalProject } | ImageArtifact;

export interface ImageArtifact {
  kind: 'image';
  imageUri: string;
  /** Of the project's own variables those that tune the platform's part, where they are known. The deployment's win over them. */
  settings?: Record<string, string>;
  /** Of the machines it is for, as images call it; where it is not known, the image may be for several. */
  architecture?: string;
}

/** All it takes to run one revision. */
export interface RevisionSpec {
  deploymentId: string;
  revisionId: string;
  /** No revision has run on its database yet: agent-api makes the tables before anything else starts. */
  isFirst: boolean;
  /** Of a cluster: where it is to run, when its listener has several places. */
  namespace?: string | undefined;
  artifact: Artifact;
  resources: ResourceSpec;
  /** With the password. */
  databaseUri: string;
  /** With the password; reaches what begins with `redisKeyPrefix` alone. */
  redisUri: string;
  redisKeyPrefix: string;
  /** The deployment's own variables. */
  secrets: Record<string, string>;
}

export interface StartOptions {
  /** Gives up the start, or ends what was started by then. */
  signal: AbortSignal;
  timeoutMs: number;
  /** Called whenever the set of healthy base URLs differs, after the start too. */
  onUpstreams(urls: string[]): void;
}

/** One process of a revision, as it is at the moment. */
export interface RunningPart {
  role: Role;
  /** Among the parts of the revision: `agent-api`, `run-worker-2`. */
  name: string;
  /** Where it answers; null while it does not. */
  url: string | null;
  /** Null when it is no process of this machine. */
  pid: number | null;
  /** How often it ended unasked and was started again. */
  restarts: number;
  /** Where it is no process of this machine: what it uses, as told by where it runs. Null when nobody tells. */
  measure?(): Promise<MeasuredUsage | null>;
}

export interface MeasuredUsage {
  /** In use at the moment. */
  cpuCores: number;
  memoryBytes: number;
}

/** A revision whose processes run and are kept running. */
export interface RunningRevision {
  readonly deploymentId: string;
  readonly revisionId: string;
  readonly resources: ResourceSpec;
  /** It ends, and gets no new processes. */
  readonly isDraining: boolean;
  /** It goes on when this process does not. */
  readonly outlivesUs?: boolean;
  /** How many processes there are within its bounds is decided where it runs. */
  readonly isScaledElsewhere?: boolean;
  /** The project checks its callers itself. */
  readonly hasCustomAuth: boolean;
  /** Base URLs of healthy agent-api processes. */
  readonly upstreams: string[];
  parts(): RunningPart[];
  /** How many processes of a role there are, or are on their way. */
  countOf(role: Role): number;
  /** Starts more processes of a role, or has the newest ones drain and end. */
  scale(role: Role, count: number): void;
  /** Workers finish or hand back what they have, within the revision's grace; then everything ends. */
  drain(): Promise<void>;
  /** Ends everything at once, by force after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** This process looks after it no more, and leaves it as it is. Only of what outlives it. */
  release?(): Promise<void>;
}

/** Runs revisions somewhere: as processes of this machine, or elsewhere. */
export interface Driver {
  /**
   * Starts a revision and resolves when all its parts are healthy. When it rejects, nothing of it is left running.
   *
   * @throws StartFailure when the revision itself is to blame
   */
  start(spec: RevisionSpec, options: StartOptions): Promise<RunningRevision>;
  /** Whether what it starts goes on when this process does not: then its route stays too. */
  outlivesUs?(kind: Artifact['kind']): boolean;
}

/** A revision that does not come up. The message is for its owner. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
