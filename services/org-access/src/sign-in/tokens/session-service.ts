import type { AccessTokenAnswer, SessionInfo, SignedInPerson } from '@runyard/contracts';
import { ForbiddenError, NotFoundError, type Principal } from '@runyard/service-kit';
import { audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import { endOwnSession, endOwnSessions } from '../sessions/end-own-sessions.ts';
import { enterOrganization } from '../sessions/enter-organization.ts';
import type { LiveSession, LiveSessions } from '../sessions/live-sessions.ts';
import { makeSessionToken } from '../sessions/open-session.ts';
import type { AccessTokens } from './access-tokens.ts';
import { chooseIdentity } from './session-scope.ts';

/** Lists, ends and renews the sessions of a person. Callers are sessions: the operations say so. */
export class SessionService {
  readonly #database: Database;
  readonly #sessions: LiveSessions;
  readonly #accessTokens: AccessTokens;

  constructor(parts: { database: Database; sessions: LiveSessions; accessTokens: AccessTokens }) {
    this.#database = parts.database;
    this.#sessions = parts.sessions;
    this.#accessTokens = parts.accessTokens;
  }

  async list(caller: Principal): Promise<SessionInfo[]> {
    const { session: own } = await this.#sessions.findById(caller.sessionId!);
    const sessions = await this.#sessions.listFor(own);
    return sessions.map((session) => render(session, caller));
  }

  /** @throws NotFoundError also for a session of somebody else, and for one that has ended */
  async end(caller: Principal, id: string): Promise<void> {
    const { session } = await this.#sessions.findById(caller.sessionId!);
    await this.#database.transact(
      audited(async (transaction, audit) => {
        if (!(await endOwnSession(transaction, audit, session, id)))
          throw new NotFoundError('Session not found', { code: 'session_not_found' });
      }),
    );
  }

  /** Returns how many sessions have ended. */
  async endAll(caller: Principal, includesCurrent: boolean): Promise<number> {
    const { session } = await this.#sessions.findById(caller.sessionId!);
    const kept = includesCurrent ? {} : { keptSessionId: session.id };
    return this.#database.transact(audited((transaction, audit) => endOwnSessions(transaction, audit, session, kept)));
  }

  /**
   * Replaces the token of the caller's session.
   *
   * @param token of the cookie
   * @throws ForbiddenError when it is not the newest of the session
   */
  async refresh(
    caller: Principal,
    token: string | undefined,
  ): Promise<{ token: string; session: SessionInfo; maxAgeSeconds: number }> {
    const current = await this.#requireCookie(caller, token);
    const { id } = current.session;
    // Not that of the row: the token before it is still good for requests, and must not replace its successor.
    const tokenSha256 = hashSecret(token ?? '');
    const next = makeSessionToken();
    await this.#database.transact(async (transaction) => {
      const { count } = await transaction.session.updateMany({
        where: { id, tokenSha256, endedAt: null },
        data: {
          tokenSha256: hashSecret(next),
          previousTokenSha256: tokenSha256,
          rotatedAt: new Date(),
        },
      });
      if (count === 0) throw cookieRequired();
      await organizationEvents.sessionChanged(transaction, { sessionId: id });
    });
    // The session may end later when it is used: the browser keeps the cookie until then.
    const maxAgeSeconds = (current.session.expiresAt.getTime() - Date.now()) / 1000;
    return { token: next, session: render(current, caller), maxAgeSeconds };
  }

  /** @throws ForbiddenError without the cookie: an access token must not prolong itself */
  async issueAccessToken(caller: Principal, token: string | undefined): Promise<AccessTokenAnswer> {
    const { session, endsAt } = await this.#requireCookie(caller, token);
    const issued = await this.#accessTokens.sign({ sessionId: session.id, personId: session.personId }, endsAt);
    return { access_token: issued.token, token_type: 'bearer', expires_in: issued.expiresInSeconds };
  }

  /** @throws ForbiddenError when the session may not act there */
  async chooseOrganization(caller: Principal, organizationId: string): Promise<SessionInfo> {
    const current = await this.#sessions.findById(caller.sessionId!);
    const { organizationId: before } = current.session;
    await chooseIdentity(this.#database.prisma, current.session, { organization_id: organizationId });
    if (before !== organizationId) await enterOrganization(this.#database, current.session, organizationId);
    return render({ ...current, session: { ...current.session, organizationId } }, caller);
  }

  async describePerson(caller: Principal): Promise<SignedInPerson> {
    const { session } = await this.#sessions.findById(caller.sessionId!);
    const person = await this.#database.prisma.person.findUniqueOrThrow({ where: { id: session.personId } });
    const isMember = caller.organizationId !== '';
    return {
      user_id: session.loginId ?? person.id,
      ls_user_id: person.id,
      email: person.email,
      full_name: person.fullName,
      avatar_url: person.avatarUrl,
      identity_id: isMember ? caller.identity : null,
      organization_id: isMember ? caller.organizationId : null,
      tenant_id: caller.workspaceId ?? null,
      session_id: session.id,
      is_sso: session.ssoOrganizationId !== null,
    };
  }

  async #requireCookie(caller: Principal, token: string | undefined): Promise<LiveSession> {
    const found = token === undefined ? undefined : await this.#sessions.findByToken(token);
    if (!found || found.session.id !== caller.sessionId) throw cookieRequired();
    return found;
  }
}

function cookieRequired(): ForbiddenError {
  return new ForbiddenError("This takes the session's newest cookie", { code: 'session_cookie_required' });
}

function render({ session, endsAt }: LiveSession, caller: Principal): SessionInfo {
  return {
    id: session.id,
    is_current: session.id === caller.sessionId,
    created_at: session.createdAt.toISOString(),
    last_seen_at: session.lastSeenAt.toISOString(),
    expires_at: endsAt.toISOString(),
    address: session.address,
    user_agent: session.userAgent,
    organization_id: session.organizationId,
    is_sso: session.ssoOrganizationId !== null,
  };
}
