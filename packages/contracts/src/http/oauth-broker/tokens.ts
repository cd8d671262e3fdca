import Type, { type Static, type TSchema } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { Timestamp, Uuid } from '../common.ts';
import {
  AUTH_TAG,
  BadRequest,
  OAUTH_ERROR_RESPONSES,
  ProviderNotFoundResponse,
  ProviderUnavailableResponse,
  Scopes,
  TokenNotFoundResponse,
} from './responses.ts';

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const OptionalNullable = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));

/** A token in a list; only `authenticate` and `wait` return its value. */
export const OAuthTokenSummary = Type.Object(
  {
    id: Uuid,
    provider_id: Type.String(),
    /** The account at the provider that it is for. */
    provider_account_label: Nullable(Type.String()),
    scopes: Type.Array(Type.String()),
    /** Null: the provider named no expiry. A token may be refreshed after it has expired. */
    expires_at: Nullable(Timestamp),
    is_default: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'OAuthTokenSummary' },
);
export type OAuthTokenSummary = Static<typeof OAuthTokenSummary>;

const OAuthTokenStatus = Type.Object({ has_token: Type.Boolean() }, { $id: 'OAuthTokenStatusResponse' });

const AccessToken = Type.String({ minLength: 1, maxLength: 16_384 });
const Label = Type.String({ minLength: 1, maxLength: 255 });

const imported = {
  access_token: AccessToken,
  refresh_token: OptionalNullable(AccessToken),
  expires_in_seconds: OptionalNullable(Type.Integer({ minimum: 1, maximum: 3_153_600_000 })),
  scopes: OptionalNullable(Scopes),
  /** Returned with the token. */
  metadata: OptionalNullable(JsonObject),
};

export const OAuthTokenImport = Type.Object(
  { provider_id: Type.String(), ...imported, is_default: OptionalNullable(Type.Boolean({ default: true })) },
  { $id: 'OAuthTokenImportRequest' },
);
export type OAuthTokenImport = Static<typeof OAuthTokenImport>;

/** A token that belongs to an agent and to no user. */
export const AgentTokenImport = Type.Object(imported, { $id: 'AgentTokenImportRequest' });
export type AgentTokenImport = Static<typeof AgentTokenImport>;

export const OAuthTokenPatch = Type.Object(
  { provider_account_label: OptionalNullable(Label), is_default: OptionalNullable(Type.Boolean()) },
  { $id: 'OAuthTokenMetadataRequest' },
);
export type OAuthTokenPatch = Static<typeof OAuthTokenPatch>;

const exampleToken: OAuthTokenSummary = {
  id: '0192f7a0-0000-7000-8000-000000000020',
  provider_id: 'github',
  provider_account_label: 'alice@example.com',
  scopes: ['repo'],
  expires_at: '2026-11-20T20:00:00.000Z',
  is_default: true,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
};
const params = Type.Object({ token_id: Uuid });
const requiredProvider = Type.Object({ provider_id: Type.String({ description: 'OAuth provider ID' }) });
const revoked = Type.Object({ message: Type.String(), provider_id: Type.String() }, { $id: 'RevokeTokensResponse' });

export const listOAuthTokens = defineOperation({
  operationId: 'listOAuthTokens',
  method: 'get',
  path: '/v2/auth/tokens',
  summary: "The caller's own tokens, newest first.",
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key',
  query: Type.Object({ provider_id: Type.Optional(Type.String({ description: 'Of this provider only.' })) }),
  responses: {
    200: { description: 'The tokens.', schema: Type.Array(OAuthTokenSummary), example: [exampleToken] },
    ...OAUTH_ERROR_RESPONSES,
  },
});

export const deleteOAuthTokens = defineOperation({
  operationId: 'deleteOAuthTokens',
  method: 'delete',
  path: '/v2/auth/tokens',
  summary: 'Revoke and delete all tokens the caller has of a provider.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key that writes',
  query: requiredProvider,
  responses: {
    200: {
      description: 'They are gone; the message tells if the provider could not be told.',
      schema: revoked,
      example: { message: 'Deleted 1 token.', provider_id: 'github' },
    },
    ...OAUTH_ERROR_RESPONSES,
  },
});

export const oauthTokenExists = defineOperation({
  operationId: 'oauthTokenExists',
  method: 'get',
  path: '/v2/auth/tokens/exists',
  summary: 'Whether the calling user has any stored token of a provider, for whichever agent.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key',
  query: requiredProvider,
  responses: {
    200: {
      description: 'Yes or no; no for an unknown provider.',
      schema: OAuthTokenStatus,
      example: { has_token: true },
    },
    ...OAUTH_ERROR_RESPONSES,
  },
});

export const oauthTokensExist = defineOperation({
  operationId: 'oauthTokensExist',
  method: 'post',
  path: '/v2/auth/tokens/exists/batch',
  summary: 'The same for several providers.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key',
  body: Type.Object({ provider_ids: Type.Array(Type.String(), { maxItems: 200 }) }, { $id: 'OAuthTokensExistRequest' }),
  responses: {
    200: {
      description: 'Yes or no for each.',
      schema: Type.Object({ has_token: Type.Record(Type.String(), Type.Boolean()) }),
      example: { has_token: { github: true, slack: false } },
    },
    ...OAUTH_ERROR_RESPONSES,
  },
  examples: { body: { provider_ids: ['github', 'slack'] } },
});

export const importOAuthToken = defineCreation('oauth', {
  operationId: 'importOAuthToken',
  method: 'post',
  path: '/v2/auth/tokens/import',
  summary: 'Store a token that the caller got elsewhere.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key that writes',
  body: OAuthTokenImport,
  responses: {
    200: {
      description: 'It is stored.',
      schema: Type.Object({ token_id: Uuid }),
      example: { token_id: exampleToken.id },
    },
    404: ProviderNotFoundResponse,
    ...OAUTH_ERROR_RESPONSES,
  },
  examples: { body: { provider_id: 'github', access_token: '<a token>', scopes: ['repo'] } },
});

export const patchOAuthToken = defineOperation({
  operationId: 'patchOAuthToken',
  method: 'patch',
  path: '/v2/auth/tokens/{token_id}/metadata',
  summary: "Change a token's label, or make it the default of its provider.",
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key that writes',
  params,
  body: OAuthTokenPatch,
  responses: {
    200: { description: 'The token.', schema: OAuthTokenSummary, example: exampleToken },
    404: TokenNotFoundResponse,
    ...OAUTH_ERROR_RESPONSES,
  },
  examples: { body: { provider_account_label: 'work', is_default: true } },
});

export const deleteOAuthToken = defineOperation({
  operationId: 'deleteOAuthToken',
  method: 'delete',
  path: '/v2/auth/tokens/{token_id}',
  summary: 'Revoke a token at the provider, then delete it.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key that writes',
  params,
  responses: {
    204: { description: 'It is gone.' },
    400: { ...BadRequest, example: { detail: "The OAuth provider 'github' refused: invalid_client" } },
    404: TokenNotFoundResponse,
    502: ProviderUnavailableResponse,
    ...OAUTH_ERROR_RESPONSES,
  },
});

export const workspaceSlackTokenExists = defineOperation({
  operationId: 'workspaceSlackTokenExists',
  method: 'get',
  path: '/v2/auth/tokens/workspace/slack/exists',
  summary: 'Whether a Slack application was installed for the workspace.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key',
  responses: {
    200: { description: 'Yes or no.', schema: OAuthTokenStatus, example: { has_token: false } },
    ...OAUTH_ERROR_RESPONSES,
  },
});

export const deleteWorkspaceSlackTokens = defineOperation({
  operationId: 'deleteWorkspaceSlackTokens',
  method: 'delete',
  path: '/v2/auth/tokens/workspace/slack',
  summary: 'Revoke and delete all Slack tokens of the workspace.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'organization:manage',
  responses: {
    200: {
      description: 'They are gone.',
      schema: Type.Object({ message: Type.String() }),
      example: { message: 'Deleted 1 token.' },
    },
    ...OAUTH_ERROR_RESPONSES,
  },
});
