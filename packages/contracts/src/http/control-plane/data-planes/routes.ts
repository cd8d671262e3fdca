import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { Nullable, Uuid } from '../../common.ts';
import { listenerErrorResponses } from '../listeners.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { PLATFORM_DATA_PLANE_PERMISSION } from './permission.ts';

/** Base URLs of the servers that answer, as the gateway reaches them. */
export const Upstreams = Type.Array(Type.String({ maxLength: 2048, pattern: '^https?://[^\\s/?#@]+$' }), {
  maxItems: 1000,
});
/** The path below which a revision serves everything; null: there is none, or it is not known yet. */
export const MountPrefix = Nullable(Type.String({ maxLength: 2048 }));

/** A change of a deployment's route. What is missing stays. */
export const RouteReport = Type.Object(
  {
    epoch: Epoch,
    upstreams: Type.Optional(Upstreams),
    /** Ignored while another revision is active. */
    mount: Type.Optional(Type.Object({ revision_id: Uuid, prefix: MountPrefix })),
  },
  { $id: 'RouteReport' },
);
export type RouteReport = Static<typeof RouteReport>;

export const reportDeploymentRoute = defineOperation({
  operationId: 'reportDeploymentRoute',
  method: 'post',
  path: '/v2/listeners/{listener_id}/deployments/{deployment_id}/route',
  summary: 'Where the gateway reaches the servers of a deployment. The same may be said again.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: PLATFORM_DATA_PLANE_PERMISSION,
  params: Type.Object({ listener_id: Uuid, deployment_id: Uuid }),
  body: RouteReport,
  bodyLimitBytes: 4_194_304,
  responses: { 204: { description: 'It is so now.' }, 409: staleEpochResponse, ...listenerErrorResponses },
  examples: { body: { epoch: 3, upstreams: ['http://10.0.0.7:8000'] } },
});
