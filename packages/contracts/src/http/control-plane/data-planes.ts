import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Nullable, OptionalNullable, Uuid } from '../common.ts';
import { VerifyKeyRequest, VerifyKeyResponse } from '../internal/principal.ts';
import { JsonWebKeySet } from '../org-access/internal.ts';
import { Secret, SecretReference } from './deployments.ts';
import { ListenerParams, listenerRefusals } from './listeners.ts';
import { DeploymentMetricsPoint } from './metrics.ts';
import { DeploymentStatus, RevisionStatus } from './revision-status.ts';
import { DeploymentSource, SourceConfig, SourceRevisionConfig } from './sources.ts';

/** Longest wait for a change, in seconds: below what proxies on the way give up after, and well below a lease. */
const WAIT_SECONDS_MAX = 30;

/** Which connection of a data plane speaks. A newer one makes all older ones void. */
const Epoch = Type.Integer({ minimum: 1 });

export const LeaseRequest = Type.Object(
  {
    /** The same for as long as the data plane keeps its data: what comes back with it takes its lease back at once. */
    instance_id: Uuid,
    version: OptionalNullable(Type.String({ minLength: 1, maxLength: 100 })),
    /** Where clients reach its deployments, below `/deployments`. Null: nowhere that is known here. */
    public_url: OptionalNullable(Type.String({ maxLength: 1024, pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$' })),
  },
  { $id: 'LeaseRequest' },
);
export type LeaseRequest = Static<typeof LeaseRequest>;

export const Lease = Type.Object(
  {
    epoch: Epoch,
    /** How long it may be silent before what it runs is `UNKNOWN`. Every request with the epoch renews it. */
    lease_seconds: Type.Number(),
  },
  { $id: 'Lease' },
);
export type Lease = Static<typeof Lease>;

/** Everything one roll-out needs. */
export const DesiredRevision = Type.Object(
  {
    id: Uuid,
    /** Grows with every revision of the deployment. */
    number: Type.Integer(),
    status: RevisionStatus,
    source: DeploymentSource,
    source_config: SourceConfig,
    source_revision_config: SourceRevisionConfig,
    /** With their values. */
    secrets: Type.Array(Secret),
    /** Read by the data plane, where it runs. */
    secret_references: Type.Array(SecretReference),
  },
  { $id: 'DesiredRevision' },
);
export type DesiredRevision = Static<typeof DesiredRevision>;

export const DesiredDeployment = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    /** Unique over all workspaces: usable in the deployment's URL instead of the id. */
    slug: Type.String(),
    organization_id: Uuid,
    tenant_id: Uuid,
    status: DeploymentStatus,
    /** Nothing of it is to be left; the data plane reports `DELETED` when that is so. */
    is_deleted: Type.Boolean(),
    /** The one that is to serve. */
    active_revision_id: Nullable(Uuid),
    latest_revision_id: Uuid,
    /** The active one, the latest, and those that have not come to an end; oldest first. */
    revisions: Type.Array(DesiredRevision),
  },
  { $id: 'DesiredDeployment' },
);
export type DesiredDeployment = Static<typeof DesiredDeployment>;

export const ListenerDesiredState = Type.Object(
  {
    /** For `since`; another one when anything below is different. */
    resource_version: Type.String(),
    deployments: Type.Array(DesiredDeployment),
  },
  { $id: 'ListenerDesiredState' },
);
export type ListenerDesiredState = Static<typeof ListenerDesiredState>;

export const RevisionReport = Type.Object(
  {
    epoch: Epoch,
    revision_id: Uuid,
    status: RevisionStatus,
    /** Why it failed; masked by who sends it. */
    message: OptionalNullable(Type.String({ maxLength: 65_536 })),
    /** With `DEPLOYED`: version of the agent server that serves, where it is known. */
    image_version: OptionalNullable(Type.String({ maxLength: 100 })),
  },
  { $id: 'RevisionReport' },
);
export type RevisionReport = Static<typeof RevisionReport>;

export const RevisionReportAnswer = Type.Object(
  {
    /** False: the status may not follow the one the revision has, as after it was interrupted. */
    is_accepted: Type.Boolean(),
    status: RevisionStatus,
  },
  { $id: 'RevisionReportAnswer' },
);
export type RevisionReportAnswer = Static<typeof RevisionReportAnswer>;

export const DeploymentReport = Type.Object(
  {
    epoch: Epoch,
    /** `READY`: its database is there. `DELETED`: nothing of it is left. */
    status: Type.Union([Type.Literal('READY'), Type.Literal('DELETED')]),
  },
  { $id: 'DeploymentReport' },
);
export type DeploymentReport = Static<typeof DeploymentReport>;

export const MetricsReport = Type.Object(
  {
    epoch: Epoch,
    /** Those of deployments that are not of the listener are left out, and so are those that are known. */
    samples: Type.Array(Type.Object({ deployment_id: Uuid, point: DeploymentMetricsPoint }), { maxItems: 500 }),
  },
  { $id: 'MetricsReport' },
);
export type MetricsReport = Static<typeof MetricsReport>;

/** Is a key good that a caller of one of its deployments showed. */
export const CallerQuestion = Type.Object(
  {
    epoch: Epoch,
    key: VerifyKeyRequest.properties.key,
    /** `deployment:<id>` of one of its own, or `gateway` only to learn whether the key is good. */
    audience: Type.String({ pattern: '^(gateway|deployment:[0-9a-f-]{36})$' }),
    workspace_id: OptionalNullable(Type.String({ maxLength: 100 })),
  },
  { $id: 'CallerQuestion' },
);
export type CallerQuestion = Static<typeof CallerQuestion>;

export const CallerAnswer = Type.Object(
  {
    /** 401: the key is unknown, revoked or expired. 403: it does not reach the workspace. */
    status: Type.Union([Type.Literal(200), Type.Literal(401), Type.Literal(403)]),
    /** With 200. */
    verified: Nullable(VerifyKeyResponse),
    /** With the others. */
    detail: Nullable(Type.String()),
  },
  { $id: 'CallerAnswer' },
);
export type CallerAnswer = Static<typeof CallerAnswer>;

const tags = ['data planes (v2)'];
const stale = {
  description: 'Another connection of a data plane holds the lease.',
  schema: ErrorResponse,
  example: { detail: 'Another data plane holds the lease of listener 0192f7a0-0000-7000-8000-000000000021.' },
};
const exampleDesired: ListenerDesiredState = {
  resource_version: '4f0e9a510a53d0a0',
  deployments: [
    {
      id: '0192f7a0-0000-7000-8000-000000000001',
      name: 'hello-agent',
      slug: 'hello-agent',
      organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
      tenant_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
      status: 'READY',
      is_deleted: false,
      active_revision_id: '0192f7a0-0000-7000-8000-000000000002',
      latest_revision_id: '0192f7a0-0000-7000-8000-000000000002',
      revisions: [
        {
          id: '0192f7a0-0000-7000-8000-000000000002',
          number: 1,
          status: 'DEPLOYED',
          source: 'external_docker',
          source_config: { listener_id: '0192f7a0-0000-7000-8000-000000000021' },
          source_revision_config: { image_uri: 'registry.example.com/agent:1' },
          secrets: [{ name: 'MODEL_KEY', value: 'a key' }],
          secret_references: [],
        },
      ],
    },
  ],
};

export const takeListenerLease = defineOperation({
  operationId: 'takeListenerLease',
  method: 'post',
  path: '/v2/listeners/{listener_id}/lease',
  summary: 'A data plane connects: it alone speaks for the listener from now on.',
  tags,
  access: 'principal',
  params: ListenerParams,
  body: LeaseRequest,
  bodyLimitBytes: 65_536,
  responses: {
    200: { description: 'The lease.', schema: Lease, example: { epoch: 3, lease_seconds: 60 } },
    409: stale,
    ...listenerRefusals,
  },
  examples: { body: { instance_id: '0192f7a0-0000-7000-8000-000000000031', version: '0.1.0' } },
});

export const getListenerDesiredState = defineOperation({
  operationId: 'getListenerDesiredState',
  method: 'get',
  path: '/v2/listeners/{listener_id}/desired-state',
  summary: 'All that the data plane is to run, as soon as it is not what `since` names.',
  tags,
  access: 'principal',
  params: ListenerParams,
  query: Type.Object({
    epoch: Epoch,
    since: Type.Optional(Type.String({ maxLength: 100, description: 'The `resource_version` known already.' })),
    wait_seconds: Type.Number({
      minimum: 0,
      maximum: WAIT_SECONDS_MAX,
      default: 0,
      description: 'How long to wait for a change.',
    }),
  }),
  responses: {
    200: { description: 'What is to run, secrets included.', schema: ListenerDesiredState, example: exampleDesired },
    204: { description: 'It is still what `since` names.' },
    409: stale,
    ...listenerRefusals,
  },
});

export const reportRevisionStatus = defineOperation({
  operationId: 'reportRevisionStatus',
  method: 'post',
  path: '/v2/listeners/{listener_id}/status',
  summary: 'What became of a revision. The same may be said again.',
  tags,
  access: 'principal',
  params: ListenerParams,
  body: RevisionReport,
  bodyLimitBytes: 1_048_576,
  responses: {
    200: {
      description: 'Whether it is so now.',
      schema: RevisionReportAnswer,
      example: { is_accepted: true, status: 'DEPLOYED' },
    },
    409: stale,
    ...listenerRefusals,
  },
  examples: { body: { epoch: 3, revision_id: '0192f7a0-0000-7000-8000-000000000002', status: 'DEPLOYED' } },
});

export const reportDeploymentStatus = defineOperation({
  operationId: 'reportDeploymentStatus',
  method: 'post',
  path: '/v2/listeners/{listener_id}/deployments/{deployment_id}/status',
  summary: 'A deployment has its database now, or nothing of it is left. The same may be said again.',
  tags,
  access: 'principal',
  params: Type.Object({ listener_id: Uuid, deployment_id: Uuid }),
  body: DeploymentReport,
  bodyLimitBytes: 65_536,
  responses: { 204: { description: 'It is so now.' }, 409: stale, ...listenerRefusals },
  examples: { body: { epoch: 3, status: 'READY' } },
});

const unavailable = {
  description: 'Keys cannot be checked at the moment.',
  schema: ErrorResponse,
  example: { detail: 'Callers cannot be checked at the moment' },
};

export const checkListenerCaller = defineOperation({
  operationId: 'checkListenerCaller',
  method: 'post',
  path: '/v2/listeners/{listener_id}/callers',
  summary:
    'A caller of a deployment of the data plane showed a key: is it good, and a token that only this deployment takes.',
  tags,
  access: 'principal',
  params: ListenerParams,
  body: CallerQuestion,
  bodyLimitBytes: 65_536,
  responses: {
    200: {
      description: 'What the key is worth there.',
      schema: CallerAnswer,
      example: { status: 401, verified: null, detail: 'Invalid API key' },
    },
    409: stale,
    503: unavailable,
    ...listenerRefusals,
  },
  examples: { body: { epoch: 3, key: 'lsv2_sk_<the key>', audience: 'gateway' } },
});

export const getListenerKeySet = defineOperation({
  operationId: 'getListenerKeySet',
  method: 'get',
  path: '/v2/listeners/{listener_id}/key-set',
  summary: 'Public keys by which deployments of the data plane check those tokens.',
  tags,
  access: 'principal',
  params: ListenerParams,
  responses: {
    200: { description: 'A JSON Web Key Set.', schema: JsonWebKeySet, example: { keys: [] } },
    503: unavailable,
    ...listenerRefusals,
  },
});

export const reportDeploymentMetrics = defineOperation({
  operationId: 'reportDeploymentMetrics',
  method: 'post',
  path: '/v2/listeners/{listener_id}/metrics',
  summary: 'What the data plane measured of its deployments. The same may be said again.',
  tags,
  access: 'principal',
  params: ListenerParams,
  body: MetricsReport,
  bodyLimitBytes: 4_194_304,
  responses: { 204: { description: 'It is kept.' }, 409: stale, ...listenerRefusals },
  examples: { body: { epoch: 3, samples: [] } },
});
