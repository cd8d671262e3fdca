import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { deploymentPage } from './deployments.ts';
import {
  BadRequestResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/** The way a data plane runs deployments: as pods, containers, or processes of its machine. */
export const ComputeType = Type.Union([Type.Literal('k8s'), Type.Literal('docker'), Type.Literal('process')], {
  $id: 'ComputeType',
});
export type ComputeType = Static<typeof ComputeType>;

/** A host name label, the form of namespace names. */
const Namespace = Type.String({ maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });
const Version = Type.String({ minLength: 1, maxLength: 100 });

export const ComputeConfig = Type.Object(
  {
    /** The namespaces that deployments may use: at least one with `k8s`, not allowed with other types. */
    k8s_namespaces: OptionalNullable(Type.Array(Namespace, { maxItems: 100 })),
  },
  { $id: 'ComputeConfig' },
);
export type ComputeConfig = Static<typeof ComputeConfig>;

export const ListenerCreate = Type.Object(
  {
    compute_type: ComputeType,
    /** Identifies the cluster or machine; a workspace has one listener for each. */
    compute_id: Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' }),
    compute_config: ComputeConfig,
    /** Version of the data plane's software; a data plane reports it when it connects. */
    version: OptionalNullable(Version),
  },
  { $id: 'ListenerCreateRequest' },
);
export type ListenerCreate = Static<typeof ListenerCreate>;

/** A missing or null field changes nothing. */
export const ListenerPatch = Type.Object(
  { version: OptionalNullable(Version), compute_config: OptionalNullable(ComputeConfig) },
  { $id: 'ListenerPatchRequest' },
);
export type ListenerPatch = Static<typeof ListenerPatch>;

/** A remote data plane, which fetches what it has to run and reports the results. */
export const Listener = Type.Object(
  {
    id: Uuid,
    /** The workspace that it serves. */
    tenant_id: Uuid,
    compute_type: ComputeType,
    compute_id: Type.String(),
    compute_config: ComputeConfig,
    version: Nullable(Type.String()),
    /** `SILENT`: its lease has expired, and the status of its deployments is `UNKNOWN`. */
    status: Type.Union([Type.Literal('NEVER_CONNECTED'), Type.Literal('CONNECTED'), Type.Literal('SILENT')]),
    last_seen_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Listener' },
);
export type Listener = Static<typeof Listener>;

export const ListenerList = Type.Object(
  {
    resources: Type.Array(Listener),
    /** The offset of the next page. */
    offset: Type.Integer(),
  },
  { $id: 'ListenerList' },
);
export type ListenerList = Static<typeof ListenerList>;

const exampleListener: Listener = {
  id: '0192f7a0-0000-7000-8000-000000000021',
  tenant_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
  compute_type: 'k8s',
  compute_id: 'cluster-eu',
  compute_config: { k8s_namespaces: ['agents'] },
  version: '0.1.0',
  status: 'CONNECTED',
  last_seen_at: '2026-11-20T12:00:00.000Z',
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
};

export const ListenerParams = Type.Object({ listener_id: Uuid });

const tags = ['listeners (v2)'];
const unlisted = { 401: UnauthorizedResponse, 403: ForbiddenResponse, 422: InvalidResponse };
export const listenerErrorResponses = {
  ...unlisted,
  404: { ...NotFoundResponse, example: { detail: 'Listener ID 0192f7a0-0000-7000-8000-000000000021 not found.' } },
};
const wrongConfig = {
  ...BadRequestResponse,
  example: { detail: "'compute_config.k8s_namespaces' is required for the compute type 'k8s'." },
};

export const listListeners = defineOperation({
  operationId: 'listListeners',
  method: 'get',
  path: '/v2/listeners',
  summary: 'The listeners of the workspace, newest first.',
  tags,
  access: 'principal',
  permission: 'deployments:read',
  query: Type.Object(deploymentPage),
  responses: {
    200: {
      description: 'A page of listeners.',
      schema: ListenerList,
      example: { resources: [exampleListener], offset: 1 },
    },
    ...unlisted,
  },
});

export const createListener = defineCreation('listeners', {
  operationId: 'createListener',
  method: 'post',
  path: '/v2/listeners',
  summary: 'Make a data plane known that will run deployments of this workspace.',
  tags,
  access: 'principal',
  permission: 'deployments:create',
  plan: 'plus',
  body: ListenerCreate,
  bodyLimitBytes: 65_536,
  responses: {
    201: {
      description: 'The listener.',
      schema: Listener,
      example: { ...exampleListener, status: 'NEVER_CONNECTED', last_seen_at: null },
    },
    400: wrongConfig,
    409: {
      description: 'The workspace has a listener for this cluster or machine already.',
      schema: NotFoundResponse.schema!,
      example: {
        detail:
          "Listener for workspace ID '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001' and compute ID 'cluster-eu' already exists.",
      },
    },
    ...unlisted,
  },
  examples: {
    body: { compute_type: 'k8s', compute_id: 'cluster-eu', compute_config: { k8s_namespaces: ['agents'] } },
  },
});

export const getListener = defineOperation({
  operationId: 'getListener',
  method: 'get',
  path: '/v2/listeners/{listener_id}',
  summary: 'One listener, and whether it is heard of.',
  tags,
  access: 'principal',
  permission: 'deployments:read',
  params: ListenerParams,
  responses: {
    200: { description: 'The listener.', schema: Listener, example: exampleListener },
    ...listenerErrorResponses,
  },
});

export const patchListener = defineOperation({
  operationId: 'patchListener',
  method: 'patch',
  path: '/v2/listeners/{listener_id}',
  summary: 'Change where its deployments may be put. Those that are somewhere stay there.',
  tags,
  access: 'principal',
  permission: 'deployments:update',
  params: ListenerParams,
  body: ListenerPatch,
  bodyLimitBytes: 65_536,
  responses: {
    200: { description: 'The listener.', schema: Listener, example: exampleListener },
    400: wrongConfig,
    ...listenerErrorResponses,
  },
  examples: { body: { compute_config: { k8s_namespaces: ['agents', 'agents-test'] } } },
});

export const deleteListener = defineOperation({
  operationId: 'deleteListener',
  method: 'delete',
  path: '/v2/listeners/{listener_id}',
  summary: 'Forget a listener that has no deployments left. Its data plane is refused from then on.',
  tags,
  access: 'principal',
  permission: 'deployments:delete',
  params: ListenerParams,
  responses: {
    204: { description: 'It is gone, with those of its deployments that were being deleted.' },
    409: {
      description: 'It has deployments.',
      schema: NotFoundResponse.schema!,
      example: { detail: 'Listener ID 0192f7a0-0000-7000-8000-000000000021 has 2 deployments: delete them first.' },
    },
    ...listenerErrorResponses,
  },
});
