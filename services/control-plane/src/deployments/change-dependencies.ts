import type { SecretSets } from '@runyard/deployments';
import type { Database } from '../database/database.ts';
import type { DeploymentView } from './deployment-view.ts';
import type { DesiredState, Rollouts } from './desired-state.ts';

/** The dependencies of services that change deployments and revisions. */
export interface ChangeDependencies {
  database: Database;
  desired: DesiredState;
  secrets: SecretSets;
  view: DeploymentView;
  rollouts: Rollouts;
}
