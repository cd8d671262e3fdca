import type { Database } from '../database/database.ts';
import type { SecretSets } from '../secrets/secret-set.ts';
import type { DeploymentView } from './deployment-view.ts';
import type { DesiredState, Rollouts } from './desired-state.ts';

/** What it takes to write down what callers want, of deployments and of their revisions. */
export interface WantedParts {
  database: Database;
  desired: DesiredState;
  secrets: SecretSets;
  view: DeploymentView;
  rollouts: Rollouts;
}
