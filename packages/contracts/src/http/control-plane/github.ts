import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, OptionalNullable } from '../common.ts';
import { DeploymentParams } from './deployments.ts';
import {
  BadRequestResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/** Maximum bytes of a delivery; GitHub sends none larger. */
export const GITHUB_DELIVERY_BYTES_MAX = 26_214_400;

/** The request header with `sha256=<hex>`: the HMAC of the body with the webhook's secret. */
export const GITHUB_SIGNATURE_HEADER = 'x-hub-signature-256';

/** The values to enter in the repository's webhook settings. */
export const GithubWebhook = Type.Object(
  {
    payload_url: Type.String(),
    content_type: Type.Literal('application/json'),
    secret: Type.String(),
    events: Type.Array(Type.Literal('push')),
  },
  { $id: 'GithubWebhook' },
);
export type GithubWebhook = Static<typeof GithubWebhook>;

const exampleWebhook: GithubWebhook = {
  payload_url: 'https://agents.example.com/v1/integrations/github/webhooks/0192f7a0-0000-7000-8000-000000000001',
  content_type: 'application/json',
  secret: 'c2VjcmV0',
  events: ['push'],
};

/** The fields of a `push` delivery that the platform reads. */
export const GithubPushEvent = Type.Object(
  {
    /** The full name of the ref: `refs/heads/main`. */
    ref: Type.String(),
    /** True when the push created the branch. */
    created: Type.Boolean(),
    deleted: Type.Boolean(),
    /** The commit after the push. */
    after: Type.String(),
    repository: Type.Object({
      clone_url: Type.String(),
      /** The branch that deployments without `repo_ref` are built from. */
      default_branch: OptionalNullable(Type.String()),
    }),
  },
  { $id: 'GithubPushEvent' },
);
export type GithubPushEvent = Static<typeof GithubPushEvent>;

export const GithubDelivery = Type.Object(
  {
    /** The revision that the push created, or null. */
    revision_id: Type.Union([Type.String(), Type.Null()]),
    /** The reason when it created none. */
    ignored: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'GithubDelivery' },
);
export type GithubDelivery = Static<typeof GithubDelivery>;

const refusals = {
  400: {
    ...BadRequestResponse,
    example: { detail: "Webhooks are only available for 'github' source deployments." },
  },
  401: UnauthorizedResponse,
  403: ForbiddenResponse,
  404: NotFoundResponse,
  422: InvalidResponse,
};

export const getGithubWebhook = defineOperation({
  operationId: 'getGithubWebhook',
  method: 'get',
  path: '/v2/deployments/{deployment_id}/github-webhook',
  summary: 'What the repository needs to be told so that pushes are built, its secret included.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:update',
  params: DeploymentParams,
  responses: {
    200: { description: 'The settings of the webhook.', schema: GithubWebhook, example: exampleWebhook },
    ...refusals,
  },
});

export const replaceGithubWebhookSecret = defineOperation({
  operationId: 'replaceGithubWebhookSecret',
  method: 'post',
  path: '/v2/deployments/{deployment_id}/github-webhook',
  summary: 'Another secret; deliveries signed with the old one are refused from now on.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:update',
  params: DeploymentParams,
  responses: {
    200: { description: 'The settings of the webhook.', schema: GithubWebhook, example: exampleWebhook },
    ...refusals,
  },
});

export const receiveGithubDelivery = defineOperation({
  operationId: 'receiveGithubDelivery',
  method: 'post',
  path: '/v1/integrations/github/webhooks/{deployment_id}',
  summary: 'Where GitHub tells of pushes. A signed delivery needs no key.',
  tags: ['integrations (v1)'],
  access: 'public',
  headers: { [GITHUB_SIGNATURE_HEADER]: '`sha256=` and the HMAC of the body under the secret of the webhook.' },
  params: DeploymentParams,
  responses: {
    200: {
      description: 'The delivery is good. A push to the linked branch has made a revision.',
      schema: GithubDelivery,
      example: { revision_id: '0192f7a0-0000-7000-8000-000000000002', ignored: null },
    },
    400: { ...BadRequestResponse, example: { detail: 'The delivery is no JSON object.' } },
    401: {
      description: 'The signature is not that of a webhook that is there.',
      schema: ErrorResponse,
      example: { detail: 'The signature does not match' },
    },
    413: {
      description: 'Larger than deliveries are.',
      schema: ErrorResponse,
      example: { detail: 'Request body is larger than 26214400 bytes' },
    },
    422: InvalidResponse,
  },
});
