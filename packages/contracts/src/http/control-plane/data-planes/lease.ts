import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { OptionalNullable, Uuid } from '../../common.ts';
import { ListenerParams, listenerErrorResponses } from '../listeners.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { DATA_PLANE_PERMISSION, PLATFORM_DATA_PLANE_PERMISSION } from './permission.ts';

/** The `labels`, `annotations` and `image_pull_secrets` of pods that a cluster's operator lets deployments choose. */
export const PodRules = Type.Object(
  {
    /** Allowed keys: `team`, `example.com/*` for all with that prefix, `*` for all without one. */
    metadata: Type.Array(Type.String({ maxLength: 512 }), { maxItems: 1000 }),
    /** Names of allowed Secrets. */
    pull_secrets: Type.Array(Type.String({ maxLength: 253 }), { maxItems: 1000 }),
  },
  { $id: 'PodRules' },
);
export type PodRules = Static<typeof PodRules>;

export const DataPlaneLeaseRequest = Type.Object(
  {
    /**
     * Stays the same while the data plane keeps its data. A data plane that restarts with it gets its lease back at
     * once.
     */
    instance_id: Uuid,
    version: OptionalNullable(Type.String({ minLength: 1, maxLength: 100 })),
    /** The base URL at which clients reach its deployments, below `/deployments`. Null: the platform knows none. */
    public_url: OptionalNullable(Type.String({ maxLength: 1024, pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$' })),
    /**
     * Null: it runs no pods, or its release does not report them. Requests that break the rules are refused at once.
     */
    pod_rules: OptionalNullable(PodRules),
  },
  { $id: 'LeaseRequest' },
);
export type DataPlaneLeaseRequest = Static<typeof DataPlaneLeaseRequest>;

export const DataPlaneLease = Type.Object(
  {
    epoch: Epoch,
    /**
     * Seconds without a request after which its revisions are `UNKNOWN`. Every request with the epoch renews the lease.
     */
    lease_seconds: Type.Number(),
  },
  { $id: 'Lease' },
);
export type DataPlaneLease = Static<typeof DataPlaneLease>;

export const takeListenerLease = defineOperation({
  operationId: 'takeListenerLease',
  method: 'post',
  path: '/v2/listeners/{listener_id}/lease',
  summary: 'A data plane connects: it alone speaks for the listener from now on.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: ListenerParams,
  body: DataPlaneLeaseRequest,
  bodyLimitBytes: 65_536,
  responses: {
    200: { description: 'The lease.', schema: DataPlaneLease, example: { epoch: 3, lease_seconds: 60 } },
    409: staleEpochResponse,
    ...listenerErrorResponses,
  },
  examples: { body: { instance_id: '0192f7a0-0000-7000-8000-000000000031', version: '0.1.0' } },
});

export const releaseListenerLease = defineOperation({
  operationId: 'releaseListenerLease',
  method: 'delete',
  path: '/v2/listeners/{listener_id}/lease',
  summary: 'A data plane of the platform stops: the others take up its deployments at once.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: PLATFORM_DATA_PLANE_PERMISSION,
  params: ListenerParams,
  query: Type.Object({ epoch: Epoch }),
  responses: { 204: { description: 'It has no lease any more.' }, 409: staleEpochResponse, ...listenerErrorResponses },
});
