import type {
  Activation,
  BudgetsOutcome,
  DesiredBudgets,
  DesiredHalt,
  HaltOutcome,
  RevisionStatuses,
  RolloutDeployment,
  RolloutRevision,
} from '@runyard/deployments';

/** Stores deployments for the processes that run them, across all tenants. */
export interface RolloutStore extends RevisionStatuses {
  allIds(): Promise<string[]>;
  find(id: string): Promise<RolloutDeployment | null>;
  /** Lists unfinished revisions, the oldest first. */
  openRevisions(deploymentId: string): Promise<RolloutRevision[]>;
  /**
   * Lists the revisions whose builds are kept: the active one, the latest, and unfinished ones that have been built.
   */
  revisionsInUse(deploymentId: string): Promise<RolloutRevision[]>;
  /** Stores the password unless there is one, and returns the stored one. */
  storeDatabasePassword(id: string, encrypted: string): Promise<string>;
  markDatabaseReady(id: string): Promise<void>;
  /**
   * Makes the revision the active one. Returns false, and changes nothing, when it was interrupted or deleted
   * meanwhile.
   */
  activate(revision: RolloutRevision, activation: Activation): Promise<boolean>;
  /** Does nothing when the upstreams have not changed. */
  setUpstreams(id: string, upstreams: string[]): Promise<void>;
  /** Does nothing when the prefix has not changed, or the revision is not the active one. */
  setMountPrefix(id: string, revisionId: string, mountPrefix: string | null): Promise<void>;
  /** Returns undefined for a deployment that was never halted. */
  findHalt(id: string): Promise<DesiredHalt | undefined>;
  /** Reports how far the halt is. Fails at once when that is not possible, because the caller tries again. */
  reportHalt(id: string, outcome: HaltOutcome): Promise<void>;
  /** Returns undefined for a deployment that never had a budget. */
  findBudgets(id: string): Promise<DesiredBudgets | undefined>;
  /** Reports whether the deployment has its budgets. Fails at once when that is not possible, as `reportHalt` does. */
  reportBudgets(id: string, outcome: BudgetsOutcome): Promise<void>;
  /** Deletes the last row of the deployment. */
  remove(id: string): Promise<void>;
}
