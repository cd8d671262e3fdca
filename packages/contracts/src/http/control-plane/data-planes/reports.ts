import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { OptionalNullable, Uuid } from '../../common.ts';
import { ListenerParams, listenerErrorResponses } from '../listeners.ts';
import { DeploymentMetricsPoint } from '../metrics.ts';
import { RevisionStatus } from '../revision-status.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { DATA_PLANE_PERMISSION } from './permission.ts';
import { MountPrefix, Upstreams } from './routes.ts';

/** Says where the servers of a revision are. */
export const RevisionRoute = Type.Object(
  { upstreams: Upstreams, has_custom_auth: Type.Boolean(), mount_prefix: MountPrefix },
  { $id: 'RevisionRoute' },
);
export type RevisionRoute = Static<typeof RevisionRoute>;

export const RevisionReport = Type.Object(
  {
    epoch: Epoch,
    revision_id: Uuid,
    status: RevisionStatus,
    /** The reason of a failure, masked by the sender. */
    message: OptionalNullable(Type.String({ maxLength: 65_536 })),
    /** The version of the agent server that serves, if known; reported with `DEPLOYED`. */
    image_version: OptionalNullable(Type.String({ maxLength: 100 })),
    /** Reported with `DEPLOYED`, by data planes of the platform itself alone. */
    route: Type.Optional(RevisionRoute),
  },
  { $id: 'RevisionReport' },
);
export type RevisionReport = Static<typeof RevisionReport>;

export const RevisionReportAnswer = Type.Object(
  {
    /** False when the status may not follow the revision's present one, for example after it was interrupted. */
    is_accepted: Type.Boolean(),
    status: RevisionStatus,
  },
  { $id: 'RevisionReportAnswer' },
);
export type RevisionReportAnswer = Static<typeof RevisionReportAnswer>;

export const DeploymentReport = Type.Object(
  {
    epoch: Epoch,
    /** `READY`: its database exists. `DELETED`: everything of it is deleted. */
    status: Type.Union([Type.Literal('READY'), Type.Literal('DELETED')]),
  },
  { $id: 'DeploymentReport' },
);
export type DeploymentReport = Static<typeof DeploymentReport>;

/** How far a halt or a resume is at a deployment. */
export const HaltReport = Type.Object(
  {
    epoch: Epoch,
    /** The `halt_version` that this is about. */
    version: Type.Integer({ minimum: 1 }),
    /** True when the deployment's database has it. */
    is_reached: Type.Boolean(),
    runs_cancelled: Type.Integer({ minimum: 0 }),
    runs_in_flight: Type.Integer({ minimum: 0 }),
    runs_queued: Type.Integer({ minimum: 0 }),
    /** Why it is not reached, or null. */
    message: OptionalNullable(Type.String({ maxLength: 1_000 })),
  },
  { $id: 'HaltReport' },
);
export type HaltReport = Static<typeof HaltReport>;

/** Says whether a deployment has its budgets. */
export const BudgetsReport = Type.Object(
  {
    epoch: Epoch,
    /** The `budgets_version` that this is about. */
    version: Type.Integer({ minimum: 1 }),
    /** True when the deployment's database has them. */
    is_reached: Type.Boolean(),
    /** Why it has not, or null. */
    message: OptionalNullable(Type.String({ maxLength: 1_000 })),
  },
  { $id: 'BudgetsReport' },
);
export type BudgetsReport = Static<typeof BudgetsReport>;

export const MetricsReport = Type.Object(
  {
    epoch: Epoch,
    /** Samples that are known already, or whose deployment is not one of the listener's, are ignored. */
    samples: Type.Array(Type.Object({ deployment_id: Uuid, point: DeploymentMetricsPoint }), { maxItems: 500 }),
  },
  { $id: 'MetricsReport' },
);
export type MetricsReport = Static<typeof MetricsReport>;

export const reportRevisionStatus = defineOperation({
  operationId: 'reportRevisionStatus',
  method: 'post',
  path: '/v2/listeners/{listener_id}/status',
  summary: 'What became of a revision. The same may be said again.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: ListenerParams,
  body: RevisionReport,
  bodyLimitBytes: 1_048_576,
  responses: {
    200: {
      description: 'Whether it is so now.',
      schema: RevisionReportAnswer,
      example: { is_accepted: true, status: 'DEPLOYED' },
    },
    409: staleEpochResponse,
    ...listenerErrorResponses,
  },
  examples: { body: { epoch: 3, revision_id: '0192f7a0-0000-7000-8000-000000000002', status: 'DEPLOYED' } },
});

export const reportDeploymentStatus = defineOperation({
  operationId: 'reportDeploymentStatus',
  method: 'post',
  path: '/v2/listeners/{listener_id}/deployments/{deployment_id}/status',
  summary: 'A deployment has its database now, or nothing of it is left. The same may be said again.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: Type.Object({ listener_id: Uuid, deployment_id: Uuid }),
  body: DeploymentReport,
  bodyLimitBytes: 65_536,
  responses: { 204: { description: 'It is so now.' }, 409: staleEpochResponse, ...listenerErrorResponses },
  examples: { body: { epoch: 3, status: 'READY' } },
});

export const reportDeploymentHalt = defineOperation({
  operationId: 'reportDeploymentHalt',
  method: 'post',
  path: '/v2/listeners/{listener_id}/deployments/{deployment_id}/halt-report',
  summary: 'How far the halt or the resume of a deployment is. The same may be said again.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: Type.Object({ listener_id: Uuid, deployment_id: Uuid }),
  body: HaltReport,
  bodyLimitBytes: 65_536,
  responses: { 204: { description: 'It is kept.' }, 409: staleEpochResponse, ...listenerErrorResponses },
  examples: {
    body: { epoch: 3, version: 1, is_reached: true, runs_cancelled: 17, runs_in_flight: 1, runs_queued: 4 },
  },
});

export const reportDeploymentBudgets = defineOperation({
  operationId: 'reportDeploymentBudgets',
  method: 'post',
  path: '/v2/listeners/{listener_id}/deployments/{deployment_id}/budgets-report',
  summary: 'Whether a deployment has its budgets. The same may be said again.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: Type.Object({ listener_id: Uuid, deployment_id: Uuid }),
  body: BudgetsReport,
  bodyLimitBytes: 65_536,
  responses: { 204: { description: 'It is kept.' }, 409: staleEpochResponse, ...listenerErrorResponses },
  examples: { body: { epoch: 3, version: 1, is_reached: true, message: null } },
});

export const reportDeploymentMetrics = defineOperation({
  operationId: 'reportDeploymentMetrics',
  method: 'post',
  path: '/v2/listeners/{listener_id}/metrics',
  summary: 'What the data plane measured of its deployments. The same may be said again.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: ListenerParams,
  body: MetricsReport,
  bodyLimitBytes: 4_194_304,
  responses: { 204: { description: 'It is kept.' }, 409: staleEpochResponse, ...listenerErrorResponses },
  examples: { body: { epoch: 3, samples: [] } },
});
