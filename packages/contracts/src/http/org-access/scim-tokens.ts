import Type, { type Static } from 'typebox';
import type { OperationResponse } from '../../operation.ts';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { PLATFORM_PREFIXES } from './paths.ts';
import { PlatformErrorResponse } from './platform-errors.ts';
import { InvalidResponse } from './responses.ts';

const tokenFields = {
  id: Uuid,
  description: Type.String(),
  /** The beginning and the end of the token: enough to recognize it, not enough to use it. */
  short_token: Type.String(),
  /** The last use, accurate to about a minute; null: not used yet. */
  last_used_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const ScimToken = Type.Object(tokenFields, { $id: 'ScimToken' });
export type ScimToken = Static<typeof ScimToken>;

/** The only answer that contains the token itself. */
export const IssuedScimToken = Type.Object({ ...tokenFields, token: Type.String() }, { $id: 'IssuedScimToken' });
export type IssuedScimToken = Static<typeof IssuedScimToken>;

export const ScimTokenChange = Type.Object(
  { description: Type.String({ minLength: 1, maxLength: 500 }) },
  { $id: 'ScimTokenChange', additionalProperties: false },
);
export type ScimTokenChange = Static<typeof ScimTokenChange>;

const example: ScimToken = {
  id: '2c2e6a0e-58a6-4f3e-9a3b-1d8a3f7f0011',
  description: 'Directory',
  short_token: 'ryscim_3f2a...91bc',
  last_used_at: null,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
};
const unauthorized: OperationResponse = { description: 'No valid credential.', schema: PlatformErrorResponse };
const forbidden: OperationResponse = {
  description: 'The caller may not do this.',
  schema: PlatformErrorResponse,
  example: { error: 'Only organization administrators manage SCIM tokens' },
};
const notFound: OperationResponse = {
  description: 'Not there, or of another organization.',
  schema: PlatformErrorResponse,
  example: { error: 'SCIM token not found' },
};
const params = Type.Object({ scim_token_id: Uuid });
const reads = {
  tags: ['SCIM'] as string[],
  access: 'principal',
  errors: PlatformErrorResponse,
  permission: 'organization:read',
  refusal: { detail: 'You may not read the organization', code: 'permission_missing' },
} as const;
const writes = {
  tags: ['SCIM'] as string[],
  access: 'principal',
  errors: PlatformErrorResponse,
  permission: 'organization:manage',
  refusal: { detail: 'Only organization administrators manage SCIM tokens', code: 'organization_admin_required' },
} as const;

export const scimTokenOperations = PLATFORM_PREFIXES.map(({ prefix, alias }) => ({
  create: defineOperation({
    ...writes,
    operationId: `createScimToken${alias}`,
    method: 'post',
    path: `${prefix}/scim/tokens`,
    summary:
      'Make a SCIM token. The answer is the only place where the token itself is ever shown. Several are valid at once.',
    body: ScimTokenChange,
    responses: {
      201: {
        description: 'The new token.',
        schema: IssuedScimToken,
        example: { ...example, token: 'ryscim_<the token, shown this once>' },
      },
      401: unauthorized,
      403: forbidden,
      422: InvalidResponse,
    },
    examples: { body: { description: 'Directory' } },
  }),
  list: defineOperation({
    ...reads,
    operationId: `listScimTokens${alias}`,
    method: 'get',
    path: `${prefix}/scim/tokens`,
    summary: 'The valid SCIM tokens of the organization, newest first.',
    responses: {
      200: { description: 'The tokens.', schema: Type.Array(ScimToken), example: [example] },
      401: unauthorized,
      403: forbidden,
    },
  }),
  get: defineOperation({
    ...reads,
    operationId: `getScimToken${alias}`,
    method: 'get',
    path: `${prefix}/scim/tokens/{scim_token_id}`,
    summary: 'One SCIM token.',
    params,
    responses: {
      200: { description: 'The token.', schema: ScimToken, example },
      401: unauthorized,
      403: forbidden,
      404: notFound,
      422: InvalidResponse,
    },
  }),
  update: defineOperation({
    ...writes,
    operationId: `updateScimToken${alias}`,
    method: 'patch',
    path: `${prefix}/scim/tokens/{scim_token_id}`,
    summary: 'Change the description of a SCIM token.',
    params,
    body: ScimTokenChange,
    responses: {
      200: { description: 'The token after the change.', schema: ScimToken, example },
      401: unauthorized,
      403: forbidden,
      404: notFound,
      422: InvalidResponse,
    },
    examples: { body: { description: 'Directory, second' } },
  }),
  delete: defineOperation({
    ...writes,
    operationId: `deleteScimToken${alias}`,
    method: 'delete',
    path: `${prefix}/scim/tokens/{scim_token_id}`,
    summary: 'Revoke a SCIM token for good. The users and groups stay as they are.',
    params,
    responses: {
      204: { description: 'It is valid no more.' },
      401: unauthorized,
      403: forbidden,
      404: notFound,
      422: InvalidResponse,
    },
  }),
}));
