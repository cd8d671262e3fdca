import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import { VerifyKeyRequest, VerifyKeyResponse } from '../internal/principal.ts';
import { ForbiddenResponse, InvalidResponse, UnauthorizedResponse } from './responses.ts';

export const verifyKey = defineOperation({
  operationId: 'verifyKey',
  method: 'post',
  path: '/internal/keys/verify',
  summary: 'Is this key good here, and a principal token for one audience.',
  tags: ['internal'],
  access: 'internal',
  body: VerifyKeyRequest,
  responses: {
    200: { description: 'The key is good.', schema: VerifyKeyResponse },
    401: { ...UnauthorizedResponse, description: 'Unknown, revoked or expired.' },
    403: { ...ForbiddenResponse, description: 'The key does not reach the workspace asked for.' },
    422: InvalidResponse,
  },
  examples: { body: { key: 'lsv2_sk_<the key>', audience: 'control-plane' } },
});

export const BootstrapRequest = Type.Object(
  {
    /** True: the first administrator key is revoked and replaced. */
    rotate_key: Type.Optional(Type.Boolean()),
  },
  { $id: 'BootstrapRequest' },
);
export type BootstrapRequest = Static<typeof BootstrapRequest>;

export const BootstrapResponse = Type.Object(
  {
    organization_id: Uuid,
    workspace_id: Uuid,
    /** The first administrator key; null when it was made before: only its hash is kept. */
    api_key: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'BootstrapResponse' },
);
export type BootstrapResponse = Static<typeof BootstrapResponse>;

export const bootstrap = defineOperation({
  operationId: 'bootstrap',
  method: 'post',
  path: '/internal/bootstrap',
  summary: 'Make the default organization, its first workspace and its first administrator key, once.',
  tags: ['internal'],
  access: 'internal',
  body: BootstrapRequest,
  bodyOptional: true,
  responses: { 200: { description: 'They are there.', schema: BootstrapResponse }, 422: InvalidResponse },
  examples: { body: {} },
});

export const JsonWebKeySet = Type.Object(
  { keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
  { $id: 'JsonWebKeySet' },
);

export const getSigningKeys = defineOperation({
  operationId: 'getSigningKeys',
  method: 'get',
  path: '/.well-known/jwks.json',
  summary: 'Public keys that principal tokens are checked with.',
  tags: ['internal'],
  access: 'public',
  responses: { 200: { description: 'A JSON Web Key Set.', schema: JsonWebKeySet } },
});
