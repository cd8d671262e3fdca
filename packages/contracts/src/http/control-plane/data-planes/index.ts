import type { Operation } from '../../../operation.ts';
import { fetchBuild } from './builds.ts';
import { checkListenerCaller, getListenerKeySet } from './callers.ts';
import { storeDatabasePassword } from './database-passwords.ts';
import { getListenerDesiredState } from './desired-state.ts';
import { releaseListenerLease, takeListenerLease } from './lease.ts';
import { reportRevisionLogs } from './logs.ts';
import { reportProcessCounts } from './process-counts.ts';
import { createPullToken } from './pull-tokens.ts';
import {
  reportDeploymentBudgets,
  reportDeploymentHalt,
  reportDeploymentMetrics,
  reportDeploymentStatus,
  reportRevisionStatus,
} from './reports.ts';
import { reportDeploymentRoute } from './routes.ts';
import { readSecretsOfWorkspace } from './workspace-secrets.ts';

/** Requests and reports of data planes. */
export const dataPlaneOperations: readonly Operation[] = [
  takeListenerLease,
  releaseListenerLease,
  getListenerDesiredState,
  createPullToken,
  fetchBuild,
  reportRevisionStatus,
  reportDeploymentStatus,
  reportDeploymentRoute,
  reportDeploymentHalt,
  reportDeploymentBudgets,
  reportDeploymentMetrics,
  reportProcessCounts,
  reportRevisionLogs,
  storeDatabasePassword,
  readSecretsOfWorkspace,
  checkListenerCaller,
  getListenerKeySet,
];

export * from './builds.ts';
export * from './callers.ts';
export * from './database-passwords.ts';
export * from './desired-state.ts';
export * from './lease.ts';
export * from './logs.ts';
export * from './process-counts.ts';
export * from './pull-tokens.ts';
export * from './reports.ts';
export * from './routes.ts';
export * from './workspace-secrets.ts';
