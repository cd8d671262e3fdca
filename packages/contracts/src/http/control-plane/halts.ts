import Type, { type Static } from 'typebox';
import { defineOperation, type Operation } from '../../operation.ts';
import type { Permission } from '../../permissions.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { DeploymentParams } from './deployments.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';

/** The fate of runs that wait: they stay until the deployment is resumed, or are cancelled. */
export const QueuedRuns = Type.Union([Type.Literal('keep'), Type.Literal('cancel')]);
const Reason = Type.String({ minLength: 1, maxLength: 500, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });

export const HaltRequest = Type.Object(
  {
    /** Why, in words for the clients that are refused. */
    reason: Reason,
    queued: Type.Union([...QueuedRuns.anyOf], { default: 'keep' }),
  },
  { $id: 'HaltRequest' },
);
export type HaltRequest = Static<typeof HaltRequest>;

const HaltScope = Type.Union([Type.Literal('organization'), Type.Literal('workspace'), Type.Literal('deployment')]);

/** One halt in force. */
const HaltInForce = Type.Object(
  { scope: HaltScope, reason: Type.String(), queued: QueuedRuns, created_by: Uuid, created_at: Timestamp },
  { $id: 'HaltInForce' },
);

/** A deployment that has not yet confirmed its last halt or resume. */
const UnreachedDeployment = Type.Object(
  {
    deployment_id: Uuid,
    name: Type.String(),
    /** The listener of the data plane that has to do it; null: the platform itself. */
    listener_id: Nullable(Uuid),
    /** The last failure; null while nothing was heard. */
    message: Nullable(Type.String()),
  },
  { $id: 'UnreachedDeployment' },
);

export const HaltState = Type.Object(
  {
    is_halted: Type.Boolean(),
    /** The halts in force, the widest first; their union applies. Clients are shown the reason of the first. */
    halts: Type.Array(HaltInForce),
    /** Deployments concerned, and those of them that have confirmed the last change. */
    deployments: Type.Integer(),
    reached: Type.Integer(),
    /** Runs cancelled by the halt, running still, and waiting, as the deployments reported last. */
    runs_cancelled: Type.Integer(),
    runs_in_flight: Type.Integer(),
    runs_queued: Type.Integer(),
    /** At most 100 of the deployments that are not yet reached. */
    not_reached: Type.Array(UnreachedDeployment),
  },
  { $id: 'HaltState' },
);
export type HaltState = Static<typeof HaltState>;

const exampleState: HaltState = {
  is_halted: true,
  halts: [
    {
      scope: 'workspace',
      reason: 'The model leaks what it should not know',
      queued: 'keep',
      created_by: '33333333-0000-4000-8000-000000000001',
      created_at: '2026-11-20T10:00:00.000Z',
    },
  ],
  deployments: 2,
  reached: 1,
  runs_cancelled: 17,
  runs_in_flight: 1,
  runs_queued: 4,
  not_reached: [
    {
      deployment_id: '0192f7a0-0000-7000-8000-000000000001',
      name: 'hello-agent',
      listener_id: '0192f7a0-0000-7000-8000-000000000021',
      message: null,
    },
  ],
};

const failures = { 401: UnauthorizedResponse, 403: ForbiddenResponse, 422: InvalidResponse };
const state = (description: string) => ({ description, schema: HaltState, example: exampleState });

/** The things that can be halted, with their paths. */
const deployment = {
  path: '/v2/deployments/{deployment_id}',
  params: DeploymentParams,
  read: 'deployments:read',
} as const;
const workspace = { path: '/v2/workspaces/current', read: 'deployments:read' } as const;
const organization = { path: '/v2/organizations/current' } as const;

const shared = { tags: ['halts (v2)'] as string[], access: 'principal' } as const;
const halting = {
  ...shared,
  method: 'post',
  body: HaltRequest,
  examples: { body: { reason: 'The model leaks what it should not know', queued: 'keep' } },
} as const;
const resuming = { ...shared, method: 'post' } as const;
const reading = { ...shared, method: 'get' } as const;
const mayHalt = 'deployments:halt' satisfies Permission;
const mayHaltAll = 'organization:manage' satisfies Permission;

const HALTED = state(
  'It is halted. Answered as soon as every deployment has confirmed it, and after 3 seconds at most.',
);
const RESUMED = state('Its own halt is gone; `halts` has those that remain. Answered as halting is.');
const HOW_FAR = state('What is halted, and how far that is.');

export const haltDeployment = defineOperation({
  ...halting,
  operationId: 'haltDeployment',
  path: `${deployment.path}/halt`,
  summary: 'Kill switch: refuse new runs of a deployment, and cancel those in flight.',
  permission: mayHalt,
  params: deployment.params,
  responses: { 200: HALTED, ...failures, 404: NotFoundResponse },
});
export const resumeDeployment = defineOperation({
  ...resuming,
  operationId: 'resumeDeployment',
  path: `${deployment.path}/resume`,
  summary: 'End the halt of a deployment; those of its workspace and its organization stay.',
  permission: mayHalt,
  params: deployment.params,
  responses: { 200: RESUMED, ...failures, 404: NotFoundResponse },
});
export const getDeploymentHalt = defineOperation({
  ...reading,
  operationId: 'getDeploymentHalt',
  path: `${deployment.path}/halt`,
  summary: 'Whether a deployment is halted, by whom, and how far that is.',
  permission: deployment.read,
  params: deployment.params,
  responses: { 200: HOW_FAR, ...failures, 404: NotFoundResponse },
});

export const haltWorkspace = defineOperation({
  ...halting,
  operationId: 'haltWorkspace',
  path: `${workspace.path}/halt`,
  summary: 'Kill switch of the workspace: all its deployments, also those made later.',
  permission: mayHalt,
  responses: { 200: HALTED, ...failures },
});
export const resumeWorkspace = defineOperation({
  ...resuming,
  operationId: 'resumeWorkspace',
  path: `${workspace.path}/resume`,
  summary: 'End the halt of the workspace; deployments that are halted themselves stay so.',
  permission: mayHalt,
  responses: { 200: RESUMED, ...failures },
});
export const getWorkspaceHalt = defineOperation({
  ...reading,
  operationId: 'getWorkspaceHalt',
  path: `${workspace.path}/halt`,
  summary: 'Whether the workspace is halted, by whom, and how far that is.',
  permission: workspace.read,
  responses: { 200: HOW_FAR, ...failures },
});

export const haltOrganization = defineOperation({
  ...halting,
  operationId: 'haltOrganization',
  path: `${organization.path}/halt`,
  summary: 'Kill switch of the organization: the deployments of all its workspaces, also those made later.',
  permission: mayHaltAll,
  responses: { 200: HALTED, ...failures },
});
export const resumeOrganization = defineOperation({
  ...resuming,
  operationId: 'resumeOrganization',
  path: `${organization.path}/resume`,
  summary: 'End the halt of the organization; workspaces and deployments that are halted themselves stay so.',
  permission: mayHaltAll,
  responses: { 200: RESUMED, ...failures },
});
export const getOrganizationHalt = defineOperation({
  ...reading,
  operationId: 'getOrganizationHalt',
  path: `${organization.path}/halt`,
  summary: 'Whether the organization is halted, by whom, and how far that is.',
  permission: mayHaltAll,
  responses: { 200: HOW_FAR, ...failures },
});

export const haltOperations: readonly Operation[] = [
  haltDeployment,
  resumeDeployment,
  getDeploymentHalt,
  haltWorkspace,
  resumeWorkspace,
  getWorkspaceHalt,
  haltOrganization,
  resumeOrganization,
  getOrganizationHalt,
];
