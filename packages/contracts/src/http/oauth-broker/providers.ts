import Type, { type Static, type TSchema } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Timestamp, Uuid } from '../common.ts';
import {
  AUTH_TAG,
  BadRequest,
  OAUTH_ERROR_RESPONSES,
  ProviderExistsResponse,
  ProviderId,
  ProviderNotFoundResponse,
  ProviderUnavailableResponse,
} from './responses.ts';

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const OptionalNullable = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));

const Url = Type.String({ minLength: 1, maxLength: 2048 });
const Name = Type.String({ minLength: 1, maxLength: 255 });
const ClientId = Type.String({ minLength: 1, maxLength: 1024 });
const CLIENT_SECRET_LENGTH_MAX = 4096;
const ClientSecret = Type.String({ minLength: 1, maxLength: CLIENT_SECRET_LENGTH_MAX });

const CodeChallengeMethod = Type.Union([Type.Literal('S256'), Type.Literal('plain')]);

/** Providers that deviate from the standards. */
export const OAuthProviderType = Type.Union(
  [Type.Literal('microsoft'), Type.Literal('salesforce'), Type.Literal('slack')],
  { $id: 'OAuthProviderType' },
);
export type OAuthProviderType = Static<typeof OAuthProviderType>;

/** The client's way to authenticate at the token endpoint. Without a client secret it is always `none`. */
export const TokenEndpointAuthMethod = Type.Union(
  [Type.Literal('none'), Type.Literal('client_secret_basic'), Type.Literal('client_secret_post')],
  { $id: 'TokenEndpointAuthMethod' },
);
export type TokenEndpointAuthMethod = Static<typeof TokenEndpointAuthMethod>;

export const OAuthProviderCreate = Type.Object(
  {
    /** Unique in the organization; a part of the redirect URI. */
    provider_id: ProviderId,
    name: Name,
    client_id: ClientId,
    /** An empty text counts as none, for clients that always send one. */
    client_secret: OptionalNullable(Type.String({ maxLength: CLIENT_SECRET_LENGTH_MAX })),
    auth_url: Url,
    token_url: Url,
    /** PKCE is also used without it if the provider announces S256. */
    uses_pkce: Type.Optional(Type.Boolean({ default: false })),
    code_challenge_method: OptionalNullable(CodeChallengeMethod),
    provider_type: OptionalNullable(OAuthProviderType),
    token_endpoint_auth_method: OptionalNullable(TokenEndpointAuthMethod),
  },
  { $id: 'OAuthProviderCreateRequest' },
);
export type OAuthProviderCreate = Static<typeof OAuthProviderCreate>;

/** A missing or null field changes nothing. */
export const OAuthProviderPatch = Type.Object(
  {
    name: OptionalNullable(Name),
    client_id: OptionalNullable(ClientId),
    client_secret: OptionalNullable(ClientSecret),
    auth_url: OptionalNullable(Url),
    token_url: OptionalNullable(Url),
    uses_pkce: OptionalNullable(Type.Boolean()),
    code_challenge_method: OptionalNullable(CodeChallengeMethod),
  },
  { $id: 'OAuthProviderPatchRequest' },
);
export type OAuthProviderPatch = Static<typeof OAuthProviderPatch>;

export const McpDiscoverRequest = Type.Object(
  { provider_id: ProviderId, name: Name, mcp_server_url: Url },
  { $id: 'McpDiscoverRequest' },
);
export type McpDiscoverRequest = Static<typeof McpDiscoverRequest>;

/** A provider without its client secret, which is never shown. */
export const OAuthProvider = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    provider_id: Type.String(),
    name: Type.String(),
    client_id: Type.String(),
    auth_url: Type.String(),
    token_url: Type.String(),
    uses_pkce: Type.Boolean(),
    code_challenge_method: Nullable(CodeChallengeMethod),
    provider_type: Nullable(OAuthProviderType),
    token_endpoint_auth_method: TokenEndpointAuthMethod,
    /** The MCP server from which it was discovered. */
    mcp_server_url: Nullable(Type.String()),
    /** True when the platform registered itself as a client. */
    is_dynamic_client: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'OAuthProvider' },
);
export type OAuthProvider = Static<typeof OAuthProvider>;

const exampleProvider: OAuthProvider = {
  id: '0192f7a0-0000-7000-8000-000000000010',
  organization_id: '11111111-0000-4000-8000-000000000001',
  provider_id: 'github',
  name: 'GitHub',
  client_id: 'Iv1.0123456789abcdef',
  auth_url: 'https://github.com/login/oauth/authorize',
  token_url: 'https://github.com/login/oauth/access_token',
  uses_pkce: true,
  code_challenge_method: 'S256',
  provider_type: null,
  token_endpoint_auth_method: 'client_secret_post',
  mcp_server_url: null,
  is_dynamic_client: false,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
};
const answered = { description: 'The provider.', schema: OAuthProvider, example: exampleProvider };
const params = Type.Object({ provider_id: Type.String() });

export const listOAuthProviders = defineOperation({
  operationId: 'listOAuthProviders',
  method: 'get',
  path: '/v2/auth/providers',
  summary: 'The OAuth providers of the organization, oldest first.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key',
  responses: {
    200: { description: 'The providers.', schema: Type.Array(OAuthProvider), example: [exampleProvider] },
    ...OAUTH_ERROR_RESPONSES,
  },
});

export const createOAuthProvider = defineCreation('oauth', {
  operationId: 'createOAuthProvider',
  method: 'post',
  path: '/v2/auth/providers',
  summary: 'Register an OAuth provider of the organization.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'organization:manage',
  body: OAuthProviderCreate,
  responses: { 200: answered, 400: BadRequest, 409: ProviderExistsResponse, ...OAUTH_ERROR_RESPONSES },
  examples: {
    body: {
      provider_id: 'github',
      name: 'GitHub',
      client_id: 'Iv1.0123456789abcdef',
      client_secret: '<the client secret>',
      auth_url: 'https://github.com/login/oauth/authorize',
      token_url: 'https://github.com/login/oauth/access_token',
      uses_pkce: true,
    },
  },
});

export const discoverMcpProvider = defineOperation({
  operationId: 'discoverMcpProvider',
  method: 'post',
  path: '/v2/auth/providers/mcp-discover',
  summary:
    'Register the OAuth provider of an MCP server: its metadata is discovered, and the platform registers itself as a client.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'organization:manage',
  body: McpDiscoverRequest,
  responses: {
    200: answered,
    400: BadRequest,
    409: ProviderExistsResponse,
    502: ProviderUnavailableResponse,
    ...OAUTH_ERROR_RESPONSES,
  },
  examples: { body: { provider_id: 'tickets', name: 'Tickets', mcp_server_url: 'https://mcp.example.com/mcp' } },
});

export const getOAuthProvider = defineOperation({
  operationId: 'getOAuthProvider',
  method: 'get',
  path: '/v2/auth/providers/{provider_id}',
  summary: 'One OAuth provider.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key',
  params,
  responses: { 200: answered, 404: ProviderNotFoundResponse, ...OAUTH_ERROR_RESPONSES },
});

export const patchOAuthProvider = defineOperation({
  operationId: 'patchOAuthProvider',
  method: 'patch',
  path: '/v2/auth/providers/{provider_id}',
  summary: 'Change an OAuth provider.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'organization:manage',
  params,
  body: OAuthProviderPatch,
  responses: { 200: answered, 400: BadRequest, 404: ProviderNotFoundResponse, ...OAUTH_ERROR_RESPONSES },
  examples: { body: { name: 'GitHub (production)' } },
});

export const deleteOAuthProvider = defineOperation({
  operationId: 'deleteOAuthProvider',
  method: 'delete',
  path: '/v2/auth/providers/{provider_id}',
  summary: 'Delete an OAuth provider with all its tokens, which are revoked as far as the provider can be reached.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'organization:manage',
  params,
  responses: {
    200: {
      description: 'It is gone.',
      schema: Type.Object({ message: Type.String() }),
      example: { message: "OAuth provider 'github' deleted." },
    },
    404: ProviderNotFoundResponse,
    ...OAUTH_ERROR_RESPONSES,
  },
});
