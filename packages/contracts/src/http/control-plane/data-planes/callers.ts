import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ErrorResponse, Nullable, OptionalNullable } from '../../common.ts';
import { VerifyKeyRequest, VerifyKeyResponse } from '../../internal/principal.ts';
import { JsonWebKeySet } from '../../org-access/internal.ts';
import { ListenerParams, listenerErrorResponses } from '../listeners.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { DATA_PLANE_PERMISSION } from './permission.ts';

/** Asks whether a key is valid that a caller showed to one of the data plane's deployments. */
export const CallerQuestion = Type.Object(
  {
    epoch: Epoch,
    key: VerifyKeyRequest.properties.key,
    /** `deployment:<id>` of one of its own, or `gateway` to check the key alone. */
    audience: Type.String({ pattern: '^(gateway|deployment:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$' }),
    workspace_id: OptionalNullable(Type.String({ maxLength: 100 })),
  },
  { $id: 'CallerQuestion' },
);
export type CallerQuestion = Static<typeof CallerQuestion>;

export const CallerAnswer = Type.Object(
  {
    /** 401: the key is unknown, revoked or expired. 403: it does not give access to the workspace. */
    status: Type.Union([Type.Literal(200), Type.Literal(401), Type.Literal(403)]),
    /** Set with 200, else null. */
    verified: Nullable(VerifyKeyResponse),
    /** Null with 200, else the reason. */
    detail: Nullable(Type.String()),
  },
  { $id: 'CallerAnswer' },
);
export type CallerAnswer = Static<typeof CallerAnswer>;

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
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: ListenerParams,
  body: CallerQuestion,
  bodyLimitBytes: 65_536,
  responses: {
    200: {
      description: 'What the key is worth there.',
      schema: CallerAnswer,
      example: { status: 401, verified: null, detail: 'Invalid API key' },
    },
    409: staleEpochResponse,
    503: unavailable,
    ...listenerErrorResponses,
  },
  examples: { body: { epoch: 3, key: 'lsv2_sk_<the key>', audience: 'gateway' } },
});

export const getListenerKeySet = defineOperation({
  operationId: 'getListenerKeySet',
  method: 'get',
  path: '/v2/listeners/{listener_id}/key-set',
  summary: 'Public keys by which deployments of the data plane check those tokens.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: ListenerParams,
  responses: {
    200: { description: 'A JSON Web Key Set.', schema: JsonWebKeySet, example: { keys: [] } },
    503: unavailable,
    ...listenerErrorResponses,
  },
});
