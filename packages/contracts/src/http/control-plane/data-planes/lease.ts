import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { OptionalNullable, Uuid } from '../../common.ts';
import { ListenerParams, listenerRefusals } from '../listeners.ts';
import { Epoch, stale, tags } from './epoch.ts';

/** What the operator of a cluster lets deployments choose of their pods, in `labels`, `annotations` and `image_pull_secrets`. */
export const PodRules = Type.Object(
  {
    /** Keys: `team`, `example.com/*` for all with that prefix, `*` for all without one. */
    metadata: Type.Array(Type.String({ maxLength: 512 }), { maxItems: 1000 }),
    /** Names of Secrets. */
    pull_secrets: Type.Array(Type.String({ maxLength: 253 }), { maxItems: 1000 }),
  },
  { $id: 'PodRules' },
);
export type PodRules = Static<typeof PodRules>;

export const LeaseRequest = Type.Object(
  {
    /** The same for as long as the data plane keeps its data: what comes back with it takes its lease back at once. */
    instance_id: Uuid,
    version: OptionalNullable(Type.String({ minLength: 1, maxLength: 100 })),
    /** Where clients reach its deployments, below `/deployments`. Null: nowhere that is known here. */
    public_url: OptionalNullable(Type.String({ maxLength: 1024, pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$' })),
    /** Null: it runs no pods, or is of a release that did not say them. What they refuse is refused when it is asked for. */
    pod_rules: OptionalNullable(PodRules),
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
