import type { Operation } from '../../../operation.ts';
import { checkListenerCaller, getListenerKeySet } from './callers.ts';
import { getListenerDesiredState } from './desired-state.ts';
import { takeListenerLease } from './lease.ts';
import { reportRevisionLogs } from './logs.ts';
import { createPullToken } from './pull-tokens.ts';
import {
  reportDeploymentHalt,
  reportDeploymentMetrics,
  reportDeploymentStatus,
  reportRevisionStatus,
} from './reports.ts';

/** Requests and reports of remote data planes. */
export const dataPlaneOperations: readonly Operation[] = [
  takeListenerLease,
  getListenerDesiredState,
  createPullToken,
  reportRevisionStatus,
  reportDeploymentStatus,
  reportDeploymentHalt,
  reportDeploymentMetrics,
  reportRevisionLogs,
  checkListenerCaller,
  getListenerKeySet,
];

export * from './callers.ts';
export * from './desired-state.ts';
export * from './lease.ts';
export * from './logs.ts';
export * from './pull-tokens.ts';
export * from './reports.ts';
