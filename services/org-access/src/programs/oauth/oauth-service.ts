import {
  type ClientRegistrationRequest,
  DEVICE_GRANT,
  DEVICE_PAGE_PATH,
  type DeviceCodeAnswer,
  MCP_SCOPE,
  type OAuthTokenAnswer,
  type RegisteredClient,
} from '@runyard/contracts';
import { TooManyRequestsError, UnauthorizedError } from '@runyard/service-kit';
import { endSessions, type SessionEndReason } from '../../access/credentials/end-sessions.ts';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { audited } from '../../audit/audit-trail.ts';
import { actAs, changeOrigin } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import type { UseRecorder } from '../../database/use-recorder.ts';
import type { Prisma, Session } from '../../generated/client.ts';
import type { AttemptLimit } from '../../sign-in/accounts/attempt-limit.ts';
import type { LiveSession, LiveSessions } from '../../sign-in/sessions/live-sessions.ts';
import { openSession } from '../../sign-in/sessions/open-session.ts';
import { recordForSession } from '../../sign-in/sessions/record-for-session.ts';
import { AccessTokens } from '../../sign-in/tokens/access-tokens.ts';
import { noteOpenedSession, redeemCode } from './authorization-codes.ts';
import type { OAuthClient, OAuthClients } from './clients.ts';
import {
  beginDevice,
  DEVICE_CODE_SECONDS,
  type DeviceOutcome,
  POLL_SECONDS,
  pollDevice,
} from './device-authorizations.ts';
import { canonicalResource, type McpServer } from './mcp-servers.ts';
import { invalidRequest, refusedGrant } from './oauth-error.ts';
import type { RefreshTokens } from './refresh-tokens.ts';

export interface OAuthParts {
  database: Database;
  sessions: LiveSessions;
  lastSeen: UseRecorder;
  accessTokens: AccessTokens;
  refreshTokens: RefreshTokens;
  clients: OAuthClients;
  limit: AttemptLimit;
  publicUrl: string;
  /** Seconds that a program's session lives. */
  sessionSeconds: number;
  /** The same for one that was allowed in a session of an identity provider. */
  ssoSessionSeconds: number;
}

/** Lets programs act as people who allowed it: each as a session of its own, which refresh tokens keep going. */
export class OAuthService {
  readonly #parts: OAuthParts;
  /** The base of all addresses. */
  readonly issuer: string;

  constructor(parts: OAuthParts) {
    this.#parts = parts;
    this.issuer = parts.publicUrl.replace(/(?<!\/)\/+$/, '');
  }

  /** @throws BadRequestError, UnauthorizedError, TooManyRequestsError */
  async authorizeDevice(
    form: { client_id?: string; resource?: string },
    userAgent: string | null,
  ): Promise<DeviceCodeAnswer> {
    const { limit, database, clients } = this.#parts;
    const client = clients.require(form.client_id);
    if (getsCodes(client))
      throw invalidRequest('unauthorized_client', 'This client gets tokens for authorization codes');
    this.#requireOwnResource(form.resource);
    await limit.takeForAddress('device', changeOrigin().address);
    const { deviceCode, userCode } = await beginDevice(database.prisma, client.id, userAgent);
    const page = this.issuer + DEVICE_PAGE_PATH;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: DEVICE_CODE_SECONDS,
      interval: POLL_SECONDS,
    };
  }

  /** @throws BadRequestError, TooManyRequestsError */
  async registerClient(request: ClientRegistrationRequest): Promise<RegisteredClient> {
    await this.#parts.limit.takeForAddress('client', changeOrigin().address);
    return this.#parts.clients.register(request);
  }

  /** @throws BadRequestError, UnauthorizedError, TooManyRequestsError */
  async issueTokens(
    form: {
      grant_type?: string;
      client_id?: string;
      device_code?: string;
      code?: string;
      code_verifier?: string;
      redirect_uri?: string;
      refresh_token?: string;
      resource?: string;
    },
    userAgent: string | null,
  ): Promise<OAuthTokenAnswer> {
    const { grant_type: grantType, resource } = form;
    if (!grantType) throw invalidRequest('invalid_request', 'grant_type is missing');
    const client = this.#parts.clients.require(form.client_id);
    if (!getsCodes(client)) this.#requireOwnResource(resource);
    switch (grantType) {
      case DEVICE_GRANT:
        return this.#redeemDevice(required(form, 'device_code'), client.id, userAgent);
      case 'authorization_code':
        return this.#redeemCode(
          client,
          { code: required(form, 'code'), verifier: required(form, 'code_verifier'), redirectUri: form.redirect_uri },
          resource,
        );
      case 'refresh_token':
        return this.#refresh(required(form, 'refresh_token'), client.id, getsCodes(client) ? resource : undefined);
      default:
        throw invalidRequest(
          'unsupported_grant_type',
          `The grants are ${DEVICE_GRANT}, authorization_code and refresh_token`,
        );
    }
  }

  /** Ends the session of a program's token; any other text is ignored. */
  async revoke(form: { token?: string; client_id?: string }): Promise<void> {
    const { database, refreshTokens, accessTokens, clients } = this.#parts;
    const { id: clientId } = clients.require(form.client_id);
    const token = required(form, 'token');
    const id = AccessTokens.isOne(token)
      ? await accessTokens.verify(token, { allowsExpired: true }).then(({ sessionId }) => sessionId, nullIfEnded)
      : await refreshTokens.findSession(database.prisma, token);
    const session = id && (await database.prisma.session.findFirst({ where: { id, clientId } }));
    if (session) await this.#change(session, () => this.#end(session, 'signed_out'));
  }

  async #redeemDevice(deviceCode: string, clientId: string, userAgent: string | null): Promise<OAuthTokenAnswer> {
    const { database, sessions, refreshTokens } = this.#parts;
    const result = await database.transact(
      audited(async (transaction, audit) => {
        const outcome = await pollDevice(transaction, deviceCode, clientId);
        if (outcome.kind !== 'allowed') return outcome;
        await lockOwner(transaction, outcome.sessionId);
        const allowing = await sessions.findById(outcome.sessionId, transaction).catch(nullIfEnded);
        if (!allowing) return { kind: 'denied' as const };
        const { session: of } = allowing;
        const { id } = await openSession(transaction, this.#sessionFor(of, { id: clientId, userAgent }));
        const details = { step: 4, outcome: 'signed_in', method: 'device_code', client_id: clientId };
        const entry = { resourceType: 'person', resourceId: of.personId, details };
        await this.#change(of, () => recordForSession(transaction, audit, of, { ...entry, action: 'sign_in.allowed' }));
        return { kind: 'opened' as const, id, refreshToken: await refreshTokens.begin(transaction, id) };
      }),
    );
    if (result.kind !== 'opened') throw refusalOf(result.kind);
    return this.#answer(await sessions.findById(result.id), result.refreshToken);
  }

  /** @param resource undefined: whatever the person allowed */
  async #redeemCode(
    client: OAuthClient,
    presented: { code: string; verifier: string; redirectUri: string | undefined },
    resource: string | undefined,
  ): Promise<OAuthTokenAnswer> {
    const { database, sessions, refreshTokens } = this.#parts;
    const { code, ...proof } = presented;
    const result = await database.transact(
      audited(async (transaction, audit) => {
        const redemption = await redeemCode(transaction, code, { clientId: client.id, ...proof });
        if (redemption.kind !== 'granted') return redemption;
        const { server } = redemption;
        if (!isSameResource(resource, server.resource)) return { kind: 'refused' as const, reason: OTHER_RESOURCE };
        await lockOwner(transaction, redemption.sessionId);
        const allowing = await sessions.findById(redemption.sessionId, transaction).catch(nullIfEnded);
        if (!allowing) return { kind: 'refused' as const, reason: 'The person has signed out since' };
        const { session: of } = allowing;
        const opened = this.#sessionFor(of, { id: client.id, userAgent: client.name, server });
        const { id } = await openSession(transaction, opened);
        await noteOpenedSession(transaction, redemption, id);
        const { deploymentId: deployment_id, organizationId, workspaceId } = server;
        const method = { method: 'authorization_code', client_id: client.id, client_name: client.name, deployment_id };
        const details = { step: 4, outcome: 'signed_in', ...method };
        const about = { resourceType: 'person', resourceId: of.personId, workspaceId };
        const entry = { action: 'sign_in.allowed', ...about, details };
        this.#change(of, () => audit.record(organizationId, entry));
        return { kind: 'opened' as const, id, refreshToken: await refreshTokens.begin(transaction, id) };
      }),
    );
    if (result.kind === 'opened') return this.#answer(await sessions.findById(result.id), result.refreshToken);
    if (result.kind === 'refused') throw refusedGrant('invalid_grant', result.reason);
    if (result.openedSessionId !== null) await this.#endById(result.openedSessionId, 'authorization_code_reused');
    throw refusedGrant('invalid_grant', 'The code was used before, so its session has ended: begin again');
  }

  /** @param resource undefined: the one that the session is for */
  async #refresh(refreshToken: string, clientId: string, resource: string | undefined): Promise<OAuthTokenAnswer> {
    const { database, refreshTokens, sessions, lastSeen } = this.#parts;
    await this.#requireResourceOf(refreshToken, resource);
    const rotation = await database.transact((transaction) =>
      refreshTokens.rotate(transaction, refreshToken, clientId),
    );
    const live = rotation.kind !== 'unknown' && (await sessions.findById(rotation.sessionId).catch(nullIfEnded));
    if (rotation.kind === 'unknown' || !live)
      throw refusedGrant('invalid_grant', 'The refresh token does not work (any more): sign in again');
    if (rotation.kind === 'reused') {
      await this.#change(live.session, () => this.#end(live.session, 'refresh_token_reused'));
      throw refusedGrant('invalid_grant', 'The refresh token was used before, so its session has ended: sign in again');
    }
    if (rotation.kind === 'too_often')
      throw new TooManyRequestsError('This session has refreshed its tokens too often: wait a little', {
        code: 'sign_in_throttled',
        retryAfterSeconds: 60,
      });
    lastSeen.record(live.session.id);
    return this.#answer(live, rotation.token);
  }

  async #endById(id: string, reason: SessionEndReason): Promise<void> {
    const session = await this.#parts.database.prisma.session.findUnique({ where: { id } });
    if (session) await this.#change(session, () => this.#end(session, reason));
  }

  /** Ends a session and records it. */
  #end(session: Session, reason: SessionEndReason): Promise<void> {
    return this.#parts.database.transact(
      audited(async (transaction, audit) => {
        const ended = await endSessions(transaction, { id: session.id }, reason);
        const entry = { action: 'session.ended', resourceType: 'session', resourceId: session.id };
        if (ended > 0) await recordForSession(transaction, audit, session, { ...entry, details: { reason, ended } });
      }),
    );
  }

  /** Runs a change as the person of a session. */
  #change<T>({ personId, id }: Session, work: () => T): T {
    return actAs({ actorKind: 'person', actorId: personId, credentialId: id }, work);
  }

  /** @param client.server the only one that the session may use; undefined: it may do what the person may */
  #sessionFor(
    of: Session,
    { id: clientId, userAgent, server }: { id: string; userAgent: string | null; server?: McpServer },
  ) {
    const { sessionSeconds, ssoSessionSeconds } = this.#parts;
    const seconds = of.ssoOrganizationId === null ? sessionSeconds : ssoSessionSeconds;
    return {
      personId: of.personId,
      loginId: of.loginId,
      clientId,
      organizationId: server?.organizationId ?? of.organizationId,
      ...(server && { deploymentId: server.deploymentId, resource: server.resource }),
      expiresAt: new Date(Date.now() + seconds * 1000),
      address: changeOrigin().address,
      userAgent: userAgent?.slice(0, 500) ?? null,
      ...(of.ssoOrganizationId !== null && { sso: ssoOf(of) }),
    };
  }

  async #answer({ session, endsAt }: LiveSession, refreshToken: string): Promise<OAuthTokenAnswer> {
    const { id: sessionId, personId, deploymentId } = session;
    const { token, expiresInSeconds } = await this.#parts.accessTokens.sign(
      { sessionId, personId, deploymentId },
      endsAt,
    );
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: expiresInSeconds,
      refresh_token: refreshToken,
      ...(deploymentId !== null && { scope: MCP_SCOPE }),
    };
  }

  /** @throws BadRequestError: the tokens of a session are for what the person allowed (RFC 8707) */
  async #requireResourceOf(refreshToken: string, resource: string | undefined): Promise<void> {
    if (resource === undefined) return;
    const { database, refreshTokens } = this.#parts;
    const id = await refreshTokens.findSession(database.prisma, refreshToken);
    const session = id && (await database.prisma.session.findUnique({ where: { id }, select: { resource: true } }));
    if (session && !isSameResource(resource, session.resource)) throw invalidRequest('invalid_target', OTHER_RESOURCE);
  }

  /** @throws BadRequestError: tokens are for this platform alone (RFC 8707) */
  #requireOwnResource(resource: string | undefined): void {
    if (resource !== undefined && resource.replace(/(?<!\/)\/+$/, '') !== this.issuer)
      throw invalidRequest('invalid_target', `The only resource is ${this.issuer}`);
  }
}

const OTHER_RESOURCE = 'The resource is another one than the person allowed';

/** Returns whether a client is one that people let use MCP servers, and nothing else. */
function getsCodes({ redirectUris }: OAuthClient): boolean {
  return redirectUris.length > 0;
}

function isSameResource(requested: string | undefined, allowed: string | null): boolean {
  return requested === undefined || (allowed !== null && canonicalResource(requested) === allowed);
}

/**
 * Lets nobody end a session until the transaction has opened another one, which is then ended with it. The person comes
 * first, as where passkeys change.
 */
async function lockOwner(transaction: Prisma.TransactionClient, sessionId: string): Promise<void> {
  const session = await transaction.session.findUnique({ where: { id: sessionId }, select: { personId: true } });
  if (session) await lockPerson(transaction, session.personId);
  await transaction.$queryRaw`SELECT 1 FROM session WHERE id = ${sessionId}::uuid FOR SHARE`;
}

/** Binds a program's session to the sign-in at the provider: what ends that ends this. */
function ssoOf(of: Session) {
  return {
    organizationId: of.ssoOrganizationId!,
    providerId: of.ssoProviderId!,
    sessionId: of.providerSessionId,
    subject: of.providerSubject!,
    encryptedIdToken: null,
  };
}

function required<Name extends string>(form: { [Key in Name]?: string }, name: Name): string {
  const value = form[name];
  if (!value) throw invalidRequest('invalid_request', `${name} is missing`);
  return value;
}

function nullIfEnded(error: unknown): null {
  if (error instanceof UnauthorizedError) return null;
  throw error;
}

function refusalOf(kind: Exclude<DeviceOutcome['kind'], 'allowed'>) {
  switch (kind) {
    case 'pending':
      return refusedGrant('authorization_pending', 'The person has not answered yet');
    case 'too_fast':
      return refusedGrant('slow_down', 'Ask less often');
    case 'denied':
      return refusedGrant('access_denied', 'The person refused, or has signed out since');
    case 'expired':
      return refusedGrant('expired_token', 'Nobody answered in time: begin again');
    case 'unknown':
      return refusedGrant('invalid_grant', 'The device code does not work (any more): begin again');
  }
}
