import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { Timestamp, Uuid } from '../../common.ts';
import { listenerErrorResponses } from '../listeners.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { DATA_PLANE_PERMISSION } from './permission.ts';

/**
 * Longest lifetime of a token in seconds: a pod may be moved to another node this long after its token was last
 * renewed.
 */
export const PULL_TOKEN_SECONDS_MAX = 3 * 24 * 3600;

export const PullTokenRequest = Type.Object(
  {
    epoch: Epoch,
    /** An image in the platform's own registry, as a revision of the deployment names it. */
    image_uri: Type.String({ minLength: 1, maxLength: 1024 }),
    /** Seconds for which the token is needed. */
    lifetime_seconds: Type.Integer({ minimum: 60, maximum: PULL_TOKEN_SECONDS_MAX }),
  },
  { $id: 'PullTokenRequest' },
);
export type PullTokenRequest = Static<typeof PullTokenRequest>;

export const PullToken = Type.Object(
  {
    /** The registry as `host[:port]`. */
    registry_host: Type.String(),
    username: Type.String(),
    /** The password. It permits pulling images of this one's repository, and nothing else. */
    token: Type.String(),
    expires_at: Timestamp,
  },
  { $id: 'PullToken' },
);
export type PullToken = Static<typeof PullToken>;

export const createPullToken = defineOperation({
  operationId: 'createPullToken',
  method: 'post',
  path: '/v2/listeners/{listener_id}/deployments/{deployment_id}/pull-token',
  summary: "A password with which the data plane pulls an image of its deployment from the platform's registry.",
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: Type.Object({ listener_id: Uuid, deployment_id: Uuid }),
  body: PullTokenRequest,
  bodyLimitBytes: 65_536,
  responses: {
    200: {
      description: 'The password, and for which registry.',
      schema: PullToken,
      example: {
        registry_host: 'agents.example.com',
        username: 'oauth2accesstoken',
        token: 's1.1f2e3d4c.c2VhbGVk',
        expires_at: '2026-11-20T13:00:00.000Z',
      },
    },
    409: staleEpochResponse,
    ...listenerErrorResponses,
  },
  examples: {
    body: {
      epoch: 3,
      image_uri: 'agents.example.com/registry/0192f7a0-0000-7000-8000-000000000001/agent:1',
      lifetime_seconds: 3600,
    },
  },
});
