import Type, { type Static } from 'typebox';
import { PUBLIC_SERVICES } from '../../routing.ts';

/** The plan of an organization. `developer` cannot create deployments; the others can do everything. */
export const OrganizationPlan = Type.Union(
  [Type.Literal('developer'), Type.Literal('plus'), Type.Literal('enterprise')],
  { $id: 'OrganizationPlan' },
);
export type OrganizationPlan = Static<typeof OrganizationPlan>;

/**
 * Claims of the short-lived token (JWT, EdDSA) that org-access signs and the gateway forwards as `X-Runyard-Principal`.
 * `aud` is `deployment:<id>` for an agent server, else the service's name. Services check it against org-access's JWKS.
 */
export const PrincipalClaims = Type.Object(
  {
    sub: Type.String({ description: 'Identity id of the key or the person; the person id without an organization.' }),
    aud: Type.String(),
    exp: Type.Integer({ description: 'Seconds since the epoch; at most 60 s after issue.' }),
    organization_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Absent for a person who acts in no organization: who has none, for example.',
      }),
    ),
    workspace_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'Absent for a caller of the whole organization.' }),
    ),
    workspace_deleted: Type.Optional(
      Type.Boolean({ description: 'The requested workspace was deleted; only administrators get to know it.' }),
    ),
    kind: Type.Union([Type.Literal('service_key'), Type.Literal('personal_token'), Type.Literal('session')]),
    key_id: Type.Optional(Type.String({ format: 'uuid' })),
    person_id: Type.Optional(Type.String({ format: 'uuid', description: 'Absent for service accounts.' })),
    session_id: Type.Optional(Type.String({ format: 'uuid', description: 'The session of a caller who signed in.' })),
    plan: Type.Optional(OrganizationPlan),
    organization_role: Type.Union([
      Type.Literal('admin'),
      Type.Literal('operator'),
      Type.Literal('user'),
      Type.Literal('viewer'),
    ]),
    permissions: Type.Array(Type.String(), { description: 'For example `deployments:update`.' }),
    read_only: Type.Optional(
      Type.Boolean({ description: 'The key only reads; its role and permissions are bounded by that already.' }),
    ),
    bounded_by_policies: Type.Optional(
      Type.Boolean({
        description: 'Access policies concern the caller: org-access has to be asked about each deployment.',
      }),
    ),
    permissions_by_policy: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Permissions that the roles lack and that policies allow on deployments with certain tags.',
      }),
    ),
  },
  { $id: 'PrincipalClaims' },
);
export type PrincipalClaims = Static<typeof PrincipalClaims>;

export const PRINCIPAL_HEADER = 'x-runyard-principal';
/** Bearer secret between the platform's own services, on `/internal/…` paths to which the gateway never routes. */
export const INTERNAL_AUTHORIZATION_SCHEME = 'Bearer';

/**
 * `POST /internal/keys/verify` on org-access: checks a credential (an API key, the token of a session, or an access token
 * of one), and returns a principal token for one audience.
 */
export const VerifyKeyRequest = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 512 }),
    /** The receiver of the token; `gateway` to check the key alone. */
    audience: Type.String({ pattern: `^(gateway|${PUBLIC_SERVICES.join('|')}|deployment:[0-9a-f-]{36})$` }),
    /** The workspace in which the caller wants to act, from `X-Tenant-Id`. */
    workspace_id: Type.Optional(Type.String()),
    /** The organization in which a person who signed in wants to act, from `X-Organization-Id`. Keys have theirs. */
    organization_id: Type.Optional(Type.String()),
    /**
     * True for a request that began when its token was valid: that an access token expired since, or the cookie of the
     * session got a new token, does not matter any more, and the end of the session does.
     */
    in_progress: Type.Optional(Type.Boolean()),
  },
  { $id: 'VerifyKeyRequest' },
);
export type VerifyKeyRequest = Static<typeof VerifyKeyRequest>;

export const VerifyKeyResponse = Type.Object(
  {
    /** The signed principal token. */
    token: Type.String(),
    claims: PrincipalClaims,
    /** Addresses and networks (CIDR) from which the organization may be used; missing: from everywhere. */
    allowed_networks: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'VerifyKeyResponse' },
);
export type VerifyKeyResponse = Static<typeof VerifyKeyResponse>;

/** `typ` in the header of access tokens, by which they are told apart from bearers that deployments know themselves. */
export const ACCESS_TOKEN_TYPE = 'runyard-access+jwt';
/** `aud` of access tokens: none of a principal token. */
export const ACCESS_TOKEN_AUDIENCE = 'runyard-api';
/**
 * `typ` of access tokens that are for the MCP server of one deployment alone: the gateway takes them nowhere else, and
 * org-access exchanges them for no other audience.
 */
export const MCP_TOKEN_TYPE = 'runyard-mcp+jwt';
/** `aud` of such a token is this and the id of the deployment: none of a principal token. */
export const MCP_TOKEN_AUDIENCE = 'mcp:';
