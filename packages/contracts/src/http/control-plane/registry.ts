import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { DeploymentParams } from './deployments.ts';
import {
  BadRequestResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

export const PushTokenRequest = Type.Object(
  {
    /** True when the client understands `username` and `repository_url` in the answer. */
    supports_registry_username: Type.Optional(Type.Boolean()),
  },
  { $id: 'PushTokenRequest' },
);
export type PushTokenRequest = Static<typeof PushTokenRequest>;

export const PushToken = Type.Object(
  {
    /** Password for the registry. It permits pushing and pulling images of this deployment for an hour. */
    token: Type.String(),
    /** Images are pushed to `<registry_url>/<name>:<tag>`. */
    registry_url: Type.String(),
    /** The user name for the login; without `supports_registry_username` it is `oauth2accesstoken`. */
    username: Type.Optional(Type.String()),
    /** The whole repository for the deployment's images; no name is added. */
    repository_url: Type.Optional(Type.String()),
  },
  { $id: 'PushToken' },
);
export type PushToken = Static<typeof PushToken>;

export const createPushToken = defineCreation('deployments', {
  operationId: 'createPushToken',
  method: 'post',
  path: '/v2/deployments/{deployment_id}/push-token',
  summary: "A short-lived password for pushing the deployment's images to the platform's registry.",
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:update',
  params: DeploymentParams,
  body: PushTokenRequest,
  bodyOptional: true,
  bodyLimitBytes: 65_536,
  responses: {
    200: {
      description: 'The password, and where to push.',
      schema: PushToken,
      example: {
        token: 's1.1f2e3d4c.c2VhbGVk',
        registry_url: 'agents.example.com/registry/0192f7a0-0000-7000-8000-000000000001',
      },
    },
    400: {
      ...BadRequestResponse,
      example: { detail: "Push tokens are only available for 'internal_docker' source deployments." },
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: NotFoundResponse,
    422: InvalidResponse,
  },
  examples: { body: { supports_registry_username: true } },
});
