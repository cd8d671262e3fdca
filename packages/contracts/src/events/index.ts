import type { TSchema } from 'typebox';
import { AuditEventRecorded } from './audit.ts';
import { BudgetsChanged } from './budgets.ts';
import {
  DeploymentAuthModeChanged,
  DeploymentCreated,
  DeploymentDeleted,
  DeploymentRouteChanged,
  RevisionStatusChanged,
} from './deployments.ts';
import { HaltChanged } from './halts.ts';
import {
  IdentityChanged,
  IdentityRemoved,
  KeyIssued,
  KeyRevoked,
  OrganizationSettingsChanged,
  SessionChanged,
  SessionEnded,
  WorkspaceDeleted,
} from './organizations.ts';
import { RunCancelled, RunCreated, RunFinished, RunRetried, RunStarted, RunUsed } from './runs.ts';

/** Every topic of the event bus, its key (which orders it), and its events. */
export const TOPICS = {
  runs: {
    name: 'runyard.runs',
    key: 'thread id',
    events: [RunCreated, RunStarted, RunRetried, RunCancelled, RunUsed, RunFinished],
  },
  deployments: {
    name: 'runyard.deployments',
    key: 'deployment id; of a wider halt, and of budgets, the id of the workspace or organization',
    events: [
      DeploymentCreated,
      DeploymentRouteChanged,
      DeploymentAuthModeChanged,
      DeploymentDeleted,
      RevisionStatusChanged,
      HaltChanged,
      BudgetsChanged,
    ],
  },
  organizations: {
    name: 'runyard.organizations',
    key: 'organization id',
    events: [
      KeyIssued,
      KeyRevoked,
      IdentityChanged,
      IdentityRemoved,
      SessionChanged,
      SessionEnded,
      OrganizationSettingsChanged,
      WorkspaceDeleted,
    ],
  },
  /** The audit trail, for archives and security monitoring: no service of the platform reads it. */
  audit: {
    name: 'runyard.audit',
    key: 'organization id',
    events: [AuditEventRecorded],
  },
} as const satisfies Record<string, { name: string; key: string; events: readonly TSchema[] }>;

export type TopicName = keyof typeof TOPICS;

export * from './audit.ts';
export * from './budgets.ts';
export * from './deployments.ts';
export * from './envelope.ts';
export * from './halts.ts';
export * from './organizations.ts';
export * from './runs.ts';
