import { isUuid, type PrincipalClaims, type VerifyKeyRequest, type VerifyKeyResponse } from '@runyard/contracts';
import { UnauthorizedError } from '@runyard/service-kit';
import { accessOf } from '../../access/access.ts';
import { isKnownToBeDeleted } from '../../access/known-deletion.ts';
import { organizationRoleName } from '../../access/platform-roles.ts';
import { listReachableWorkspaces } from '../../access/reachable-workspaces.ts';
import { permissionsForAudience } from '../../access/resource-permissions.ts';
import type { UseRecorder } from '../../database/use-recorder.ts';
import type { PrismaClient } from '../../generated/client.ts';
import type { LiveSession, LiveSessions } from '../sessions/live-sessions.ts';
import { AccessTokens } from './access-tokens.ts';
import type { PrincipalTokens } from './principal-tokens.ts';
import { chooseIdentity, type SessionIdentity, workspaceOutOfReach } from './session-scope.ts';

export interface SessionVerifierParts {
  prisma: PrismaClient;
  sessions: LiveSessions;
  lastSeen: UseRecorder;
  tokens: PrincipalTokens;
  accessTokens: AccessTokens;
}

/** Exchanges the token of a session, or an access token of one, for a principal token of the person. */
export class SessionVerifier {
  readonly #parts: SessionVerifierParts;

  constructor(parts: SessionVerifierParts) {
    this.#parts = parts;
  }

  /**
   * Without a requested workspace, the person acts in the only one that they reach, or in none.
   *
   * @throws UnauthorizedError for a session that is unknown or has ended
   * @throws ForbiddenError when the person may not act in the requested organization or workspace
   */
  async verify(request: VerifyKeyRequest): Promise<VerifyKeyResponse> {
    const { session, endsAt } = await this.#find(request);
    const identity = await chooseIdentity(this.#parts.prisma, session, request);
    const access = identity && (await this.#accessOf(identity, request));
    const claims: Omit<PrincipalClaims, 'exp'> = {
      sub: session.personId,
      aud: request.audience,
      kind: 'session',
      person_id: session.personId,
      session_id: session.id,
      organization_role: 'viewer',
      permissions: [],
      ...access?.claims,
    };
    this.#parts.lastSeen.record(session.id);
    const networks = access?.allowedNetworks;
    return { ...(await this.#parts.tokens.sign(claims, endsAt)), ...(networks && { allowed_networks: networks }) };
  }

  async #find(request: VerifyKeyRequest): Promise<LiveSession> {
    const { key: credential, audience, in_progress: isInProgress = false } = request;
    const { sessions, accessTokens } = this.#parts;
    if (!AccessTokens.isOne(credential)) return sessions.findByToken(credential, { isInProgress });
    const token = await accessTokens.verify(credential, { allowsExpired: isInProgress });
    const { sessionId, expiresAt, deploymentId } = token;
    const { session, endsAt } = await sessions.findById(sessionId);
    if (session.deploymentId !== deploymentId || !isForAudience(deploymentId, audience))
      throw new UnauthorizedError('Invalid access token', { code: 'session_invalid' });
    if (isInProgress) return { session, endsAt };
    return { session, endsAt: new Date(Math.min(expiresAt.getTime(), endsAt.getTime())) };
  }

  async #accessOf(identity: SessionIdentity, { workspace_id: requested, audience }: VerifyKeyRequest) {
    const { prisma } = this.#parts;
    if (requested !== undefined && !isUuid(requested)) throw workspaceOutOfReach(requested);
    const workspaceId = requested?.toLowerCase() ?? (await this.#onlyWorkspace(identity));
    const access = await accessOf(prisma, { ...identity, workspaceId });
    if (!access) throw workspaceOutOfReach(requested ?? '');
    const isUnreached = workspaceId !== null && requested !== undefined && !access.workspace;
    const { organizationId } = identity;
    if (isUnreached && !(await isKnownToBeDeleted(prisma, access, { organizationId, workspaceId, audience })))
      throw workspaceOutOfReach(requested);
    const bounded = await permissionsForAudience(prisma, { ...identity, workspaceId, audience }, access);
    const claims = {
      sub: identity.identityId,
      organization_id: organizationId,
      ...(workspaceId && access.workspace ? { workspace_id: workspaceId } : {}),
      ...(isUnreached ? { workspace_deleted: true } : {}),
      plan: access.plan,
      organization_role: organizationRoleName(access.organizationRoleId),
      permissions: [...access.organization, ...bounded.workspace].sort(),
      ...bounded.claims,
    };
    return { claims, allowedNetworks: access.allowedNetworks };
  }

  async #onlyWorkspace(identity: SessionIdentity): Promise<string | null> {
    const [first, second] = await listReachableWorkspaces(this.#parts.prisma, identity);
    return first && !second ? first.workspace.id : null;
  }
}

/**
 * Returns whether a token may be exchanged for a principal token of this audience. One for an MCP server is good for its
 * deployment alone, and to find out in which workspace it acts.
 */
function isForAudience(deploymentId: string | null, audience: string): boolean {
  return deploymentId === null || audience === `deployment:${deploymentId}` || audience === 'gateway';
}
