import type { IncomingMessage } from 'node:http';
import { conforms, PRINCIPAL_HEADER, PrincipalClaims, WORKSPACE_PERMISSIONS } from '@runyard/contracts';
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { UnauthorizedError, UnavailableError } from './errors.ts';

/** The caller of a handler. */
export interface Principal {
  /**
   * `project_user`: only the code of a deployment's project knows this caller. `data_plane`: one of the platform's own,
   * in no organization.
   */
  kind: PrincipalClaims['kind'] | 'anonymous' | 'internal' | 'project_user' | 'data_plane';
  /** Identity id of the key or the person, or what a project calls its user; empty for `anonymous` and `internal`. */
  identity: string;
  /** Empty for a person who acts in no organization, who may only call operations for any signed-in person. */
  organizationId: string;
  /** Missing for a caller of the whole organization. */
  workspaceId?: string;
  /** True when the workspace in which the caller wants to act was deleted. */
  isWorkspaceDeleted?: boolean;
  keyId?: string;
  /** Missing for service accounts. */
  personId?: string;
  sessionId?: string;
  organizationRole?: PrincipalClaims['organization_role'];
  /** The plan of the organization; missing when it is not known. */
  plan?: PrincipalClaims['plan'];
  /** True when the key only reads; `organizationRole` and `permissions` are reduced accordingly. */
  isReadOnly?: boolean;
  /** True when access policies change the permissions, on each deployment in its own way. */
  isBoundedByPolicies?: boolean;
  /** Permissions that the roles lack and that policies allow on certain deployments. */
  permissionsByPolicy?: readonly string[];
  permissions: readonly string[];
}

/** The caller of a public operation. */
export const ANONYMOUS: Principal = { kind: 'anonymous', identity: '', organizationId: '', permissions: [] };
/** Another service of the platform. */
export const INTERNAL: Principal = { kind: 'internal', identity: '', organizationId: '', permissions: [] };

export interface PrincipalVerifier {
  /** @throws UnauthorizedError when the request has no valid token; UnavailableError when it cannot be checked now */
  authenticate(request: IncomingMessage): Promise<Principal>;
}

export interface TokenVerifier extends PrincipalVerifier {
  verify(token: string): Promise<PrincipalClaims>;
}

const CACHED_TOKENS_MAX = 2_000;

/**
 * Checks the tokens that org-access signs, for one audience. A valid token is remembered until it expires: the gateway
 * sends the same one for a few seconds, and checking a signature costs more than most requests.
 */
export function createPrincipalVerifier(
  options: { audience: string } & (
    | { jwksUrl: string; keys?: undefined }
    /** Replaces the fetched key set: for org-access itself, and for tests. */
    | { keys: JWTVerifyGetKey; jwksUrl?: string }
  ),
): TokenVerifier {
  const keys =
    options.keys ?? createRemoteJWKSet(new URL(options.jwksUrl), { cooldownDuration: 1_000, timeoutDuration: 3_000 });
  const known = new Map<string, PrincipalClaims>();
  /** Tokens whose signature is being checked, so that concurrent requests with one token check it once. */
  const checking = new Map<string, Promise<PrincipalClaims>>();

  const check = async (token: string): Promise<PrincipalClaims> => {
    const claims = await verifySignature(token, keys, options.audience);
    if (known.size >= CACHED_TOKENS_MAX) known.delete(known.keys().next().value as string);
    known.set(token, claims);
    return claims;
  };

  const verify = async (token: string): Promise<PrincipalClaims> => {
    const remembered = known.get(token);
    if (remembered && remembered.exp * 1000 > Date.now()) return remembered;
    known.delete(token);
    let checked = checking.get(token);
    if (!checked) {
      checked = check(token).finally(() => checking.delete(token));
      checking.set(token, checked);
    }
    return checked;
  };

  return {
    verify,
    async authenticate(request) {
      const token = request.headers[PRINCIPAL_HEADER];
      if (typeof token !== 'string')
        throw new UnauthorizedError('Missing authentication headers', { code: 'principal_token_missing' });
      return toPrincipal(await verify(token));
    },
  };
}

/** Authenticates everybody as an administrator. Only for a service whose operator says so: RUNYARD_AUTH=none. */
export function allowAll(principal: Partial<Principal> = {}): PrincipalVerifier {
  const everybody: Principal = {
    kind: 'service_key',
    identity: 'local',
    organizationId: '00000000-0000-0000-0000-000000000000',
    organizationRole: 'admin',
    permissions: WORKSPACE_PERMISSIONS,
    ...principal,
  };
  return { authenticate: async () => everybody };
}

function toPrincipal(claims: PrincipalClaims): Principal {
  return {
    kind: claims.kind,
    identity: claims.sub,
    organizationId: claims.organization_id ?? '',
    ...(claims.workspace_id === undefined ? {} : { workspaceId: claims.workspace_id }),
    ...(claims.workspace_deleted === undefined ? {} : { isWorkspaceDeleted: claims.workspace_deleted }),
    ...(claims.key_id === undefined ? {} : { keyId: claims.key_id }),
    ...(claims.person_id === undefined ? {} : { personId: claims.person_id }),
    ...(claims.session_id === undefined ? {} : { sessionId: claims.session_id }),
    organizationRole: claims.organization_role,
    ...(claims.plan === undefined ? {} : { plan: claims.plan }),
    ...(claims.read_only === undefined ? {} : { isReadOnly: claims.read_only }),
    ...(claims.bounded_by_policies === undefined ? {} : { isBoundedByPolicies: claims.bounded_by_policies }),
    ...(claims.permissions_by_policy === undefined ? {} : { permissionsByPolicy: claims.permissions_by_policy }),
    permissions: claims.permissions,
  };
}

async function verifySignature(token: string, keys: JWTVerifyGetKey, audience: string): Promise<PrincipalClaims> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      audience,
      algorithms: ['EdDSA', 'Ed25519'],
      clockTolerance: 5,
    });
    // Other tokens of the same keys, as the access tokens of sessions are, have a type of their own.
    if ((protectedHeader.typ ?? 'JWT') !== 'JWT' || !conforms(PrincipalClaims, payload))
      throw new UnauthorizedError('Invalid principal token', { code: 'principal_token_invalid' });
    return payload;
  } catch (error) {
    if (error instanceof UnauthorizedError) throw error;
    if (isAboutTheToken(error))
      throw new UnauthorizedError('Invalid principal token', { code: 'principal_token_invalid', cause: error });
    throw new UnavailableError('Callers cannot be checked at the moment', {
      code: 'token_keys_unavailable',
      cause: error,
      retryAfterSeconds: 1,
    });
  }
}

function isAboutTheToken(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JWKSNoMatchingKey
  );
}
