import { DEVICE_GRANT, DEVICE_PAGE_PATH, type DeviceCodeAnswer, type OAuthTokenAnswer } from '@runyard/contracts';
import { TooManyRequestsError, UnauthorizedError } from '@runyard/service-kit';
import type { AttemptLimit } from '../accounts/attempt-limit.ts';
import { audited } from '../audit/audit-trail.ts';
import { actAs, changeOrigin } from '../audit/change-origin.ts';
import type { Database } from '../database/database.ts';
import type { UseRecorder } from '../database/use-recorder.ts';
import type { Prisma, Session } from '../generated/client.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import type { LiveSession, LiveSessions } from '../sessions/live-sessions.ts';
import { lockPerson } from '../sessions/lock-people.ts';
import { openSession } from '../sessions/open-session.ts';
import { recordForSession } from '../sessions/record-for-session.ts';
import { AccessTokens } from '../tokens/access-tokens.ts';
import { requireClient } from './clients.ts';
import {
  beginDevice,
  DEVICE_CODE_SECONDS,
  type DeviceOutcome,
  POLL_SECONDS,
  pollDevice,
} from './device-authorizations.ts';
import { invalidRequest, refusedGrant } from './oauth-error.ts';
import type { RefreshTokens } from './refresh-tokens.ts';

export interface OAuthParts {
  database: Database;
  sessions: LiveSessions;
  lastSeen: UseRecorder;
  accessTokens: AccessTokens;
  refreshTokens: RefreshTokens;
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
    this.issuer = parts.publicUrl.replace(/\/+$/, '');
  }

  /** @throws BadRequestError, UnauthorizedError, TooManyRequestsError */
  async authorizeDevice(
    form: { client_id?: string; resource?: string },
    userAgent: string | null,
  ): Promise<DeviceCodeAnswer> {
    const clientId = requireClient(form.client_id);
    this.#requireOwnResource(form.resource);
    const { limit, database } = this.#parts;
    await limit.takeForAddress('device', changeOrigin().address);
    const { deviceCode, userCode } = await beginDevice(database.prisma, clientId, userAgent);
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

  /** @throws BadRequestError, UnauthorizedError, TooManyRequestsError */
  async issueTokens(
    form: {
      grant_type?: string;
      client_id?: string;
      device_code?: string;
      refresh_token?: string;
      resource?: string;
    },
    userAgent: string | null,
  ): Promise<OAuthTokenAnswer> {
    const { grant_type: grantType } = form;
    if (!grantType) throw invalidRequest('invalid_request', 'grant_type is missing');
    const clientId = requireClient(form.client_id);
    this.#requireOwnResource(form.resource);
    if (grantType === DEVICE_GRANT) return this.#redeem(required(form, 'device_code'), clientId, userAgent);
    if (grantType === 'refresh_token') return this.#refresh(required(form, 'refresh_token'), clientId);
    throw invalidRequest('unsupported_grant_type', `The grants are ${DEVICE_GRANT} and refresh_token`);
  }

  /** Ends the session of a program's token; any other text is ignored. */
  async revoke(form: { token?: string; client_id?: string }): Promise<void> {
    const clientId = requireClient(form.client_id);
    const token = required(form, 'token');
    const { database, refreshTokens, accessTokens } = this.#parts;
    const id = AccessTokens.isOne(token)
      ? await accessTokens.verify(token, { allowsExpired: true }).then(({ sessionId }) => sessionId, nullIfEnded)
      : await refreshTokens.findSession(database.prisma, token);
    const session = id && (await database.prisma.session.findFirst({ where: { id, clientId } }));
    if (session) await this.#change(session, () => this.#end(session, 'signed_out'));
  }

  async #redeem(deviceCode: string, clientId: string, userAgent: string | null): Promise<OAuthTokenAnswer> {
    const { database, sessions, refreshTokens } = this.#parts;
    const result = await database.transact(
      audited(async (transaction, audit) => {
        const outcome = await pollDevice(transaction, deviceCode, clientId);
        if (outcome.kind !== 'allowed') return outcome;
        await lockOwner(transaction, outcome.sessionId);
        const allowing = await sessions.findById(outcome.sessionId, transaction).catch(nullIfEnded);
        if (!allowing) return { kind: 'denied' as const };
        const { session: of } = allowing;
        const { id } = await openSession(transaction, this.#sessionFor(of, clientId, userAgent));
        const details = { step: 4, outcome: 'signed_in', method: 'device_code', client_id: clientId };
        const entry = { resourceType: 'person', resourceId: of.personId, details };
        await this.#change(of, () => recordForSession(transaction, audit, of, { ...entry, action: 'sign_in.allowed' }));
        return { kind: 'opened' as const, id, refreshToken: await refreshTokens.begin(transaction, id) };
      }),
    );
    if (result.kind !== 'opened') throw refusalOf(result.kind);
    return this.#answer(await sessions.findById(result.id), result.refreshToken);
  }

  async #refresh(refreshToken: string, clientId: string): Promise<OAuthTokenAnswer> {
    const { database, refreshTokens, sessions, lastSeen } = this.#parts;
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

  /** Ends a session and records it. */
  #end(session: Session, reason: 'signed_out' | 'refresh_token_reused'): Promise<void> {
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

  #sessionFor(of: Session, clientId: string, userAgent: string | null) {
    const { sessionSeconds, ssoSessionSeconds } = this.#parts;
    const seconds = of.ssoOrganizationId === null ? sessionSeconds : ssoSessionSeconds;
    return {
      personId: of.personId,
      loginId: of.loginId,
      clientId,
      organizationId: of.organizationId,
      expiresAt: new Date(Date.now() + seconds * 1000),
      address: changeOrigin().address,
      userAgent: userAgent?.slice(0, 500) ?? null,
      ...(of.ssoOrganizationId !== null && { sso: ssoOf(of) }),
    };
  }

  async #answer({ session, endsAt }: LiveSession, refreshToken: string): Promise<OAuthTokenAnswer> {
    const subject = { sessionId: session.id, personId: session.personId };
    const { token, expiresInSeconds } = await this.#parts.accessTokens.sign(subject, endsAt);
    return { access_token: token, token_type: 'Bearer', expires_in: expiresInSeconds, refresh_token: refreshToken };
  }

  /** @throws BadRequestError: tokens are for this platform alone (RFC 8707) */
  #requireOwnResource(resource: string | undefined): void {
    if (resource !== undefined && resource.replace(/\/+$/, '') !== this.issuer)
      throw invalidRequest('invalid_target', `The only resource is ${this.issuer}`);
  }
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
