import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { InvalidResponse } from './responses.ts';

/** Rows of one page at most, without those that they refer to. */
export const FORMER_ROWS_PER_PAGE = 50;

const text = Type.String();

export const FormerOAuthProvider = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    provider_id: text,
    name: text,
    client_id: text,
    client_secret: Nullable(text),
    auth_url: text,
    token_url: text,
    uses_pkce: Type.Boolean(),
    code_challenge_method: Nullable(text),
    provider_type: Nullable(text),
    token_endpoint_auth_method: text,
    mcp_server_url: Nullable(text),
    resource: Nullable(text),
    is_dynamic_client: Type.Boolean(),
    client_registered_at: Nullable(Timestamp),
    client_secret_expires_at: Nullable(Timestamp),
    server_metadata: Nullable(JsonObject),
    metadata_checked_at: Nullable(Timestamp),
    created_by: Uuid,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'FormerOAuthProvider' },
);
export type FormerOAuthProvider = Static<typeof FormerOAuthProvider>;

export const FormerOAuthToken = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    provider_uuid: Uuid,
    owner: Nullable(Uuid),
    subject: text,
    workspace_id: Nullable(Uuid),
    provider_account_label: Nullable(text),
    /** Access and refresh token and the metadata, as JSON. */
    secrets: text,
    scopes: Type.Array(text),
    asked_scopes: Type.Array(text),
    expires_at: Nullable(Timestamp),
    is_default: Type.Boolean(),
    version: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'FormerOAuthToken' },
);
export type FormerOAuthToken = Static<typeof FormerOAuthToken>;

export const FormerOAuthFlow = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    workspace_id: Nullable(Uuid),
    owner: Uuid,
    subject: text,
    person_id: Nullable(Uuid),
    provider_uuid: Uuid,
    /** In base64. */
    state_digest: text,
    code_verifier: Nullable(text),
    client_id: Nullable(text),
    client_secret: Nullable(text),
    token_endpoint_auth_method: Nullable(text),
    redirect_uri: text,
    scopes: Type.Array(text),
    is_default: Type.Boolean(),
    renews_token_id: Nullable(Uuid),
    status: text,
    token_id: Nullable(Uuid),
    created_at: Timestamp,
    expires_at: Timestamp,
  },
  { $id: 'FormerOAuthFlow' },
);
export type FormerOAuthFlow = Static<typeof FormerOAuthFlow>;

export const FormerAgentConnection = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    workspace_id: Uuid,
    agent_id: text,
    token_id: Uuid,
    provider_uuid: Uuid,
    created_by: Uuid,
    created_at: Timestamp,
  },
  { $id: 'FormerAgentConnection' },
);
export type FormerAgentConnection = Static<typeof FormerAgentConnection>;

/** The kinds in the order in which they are handed over: nothing refers to a row when its turn comes. */
export const FormerRowKind = Type.Union([
  Type.Literal('connections'),
  Type.Literal('tokens'),
  Type.Literal('flows'),
  Type.Literal('providers'),
]);
export type FormerRowKind = Static<typeof FormerRowKind>;

export const FormerRowsRequest = Type.Object(
  {
    /** The rows of the page before, which the broker has stored: they are deleted. */
    stored: OptionalNullable(
      Type.Object({ kind: FormerRowKind, ids: Type.Array(Uuid, { maxItems: FORMER_ROWS_PER_PAGE }) }),
    ),
    /** `next` of the page before. Without it, the first page. */
    after: OptionalNullable(Type.Object({ kind: FormerRowKind, id: Uuid })),
  },
  { $id: 'FormerRowsRequest' },
);
export type FormerRowsRequest = Static<typeof FormerRowsRequest>;

export const FormerRows = Type.Object(
  {
    /** The kind of which this is a page; the rows of other kinds are those that it refers to. */
    kind: FormerRowKind,
    providers: Type.Array(FormerOAuthProvider),
    tokens: Type.Array(FormerOAuthToken),
    flows: Type.Array(FormerOAuthFlow),
    connections: Type.Array(FormerAgentConnection),
    /** How many rows of the page are left out, and stay, because they cannot be decrypted. */
    undecryptable: Type.Integer({ minimum: 0 }),
    /** Null: this is the last page. */
    next: Nullable(Type.Object({ kind: FormerRowKind, id: Uuid })),
  },
  { $id: 'FormerRows' },
);
export type FormerRows = Static<typeof FormerRows>;

export const handOverFormerRows = defineOperation({
  operationId: 'handOverFormerRows',
  method: 'post',
  path: '/internal/oauth/former-rows',
  summary: 'What control-plane kept of the OAuth broker in older releases, page by page, for the broker to keep.',
  tags: ['internal'],
  access: 'internal',
  body: FormerRowsRequest,
  responses: {
    200: {
      description: 'A page, decrypted.',
      schema: FormerRows,
      example: {
        kind: 'providers',
        providers: [],
        tokens: [],
        flows: [],
        connections: [],
        undecryptable: 0,
        next: null,
      },
    },
    422: InvalidResponse,
  },
  examples: { body: { stored: { kind: 'tokens', ids: ['0192f7a0-0000-7000-8000-000000000020'] }, after: null } },
});
