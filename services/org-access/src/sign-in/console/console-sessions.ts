import type { ConsoleAccessToken, ConsoleSession } from '@runyard/contracts';
import { BadRequestError, UnauthorizedError } from '@runyard/service-kit';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import { actAs } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { UseRecorder } from '../../database/use-recorder.ts';
import type { Prisma, Session } from '../../generated/client.ts';
import type { LiveSessions } from '../sessions/live-sessions.ts';
import { makeSessionToken } from '../sessions/open-session.ts';
import { recordForSession } from '../sessions/record-for-session.ts';
import type { SsoLogout } from '../sso/sso-logout.ts';
import type { AccessTokens } from '../tokens/access-tokens.ts';
import { issueConsoleCode, noteConsoleToken, redeemConsoleCode } from './console-codes.ts';

/** Sessions of browsers, each of which has one such: those of programs and of MCP clients are not shown at the console. */
const OF_BROWSERS = { clientId: null, deploymentId: null } as const;

/**
 * Shows the session of a browser at the console too, which has a host and so a cookie of its own. The console token is a
 * second secret of the same session: whatever ends the session ends it.
 */
export class ConsoleSessions {
  readonly #database: Database;
  readonly #sessions: LiveSessions;
  readonly #lastSeen: UseRecorder;
  readonly #accessTokens: AccessTokens;
  readonly #logout: SsoLogout;

  constructor(parts: {
    database: Database;
    sessions: LiveSessions;
    lastSeen: UseRecorder;
    accessTokens: AccessTokens;
    logout: SsoLogout;
  }) {
    this.#database = parts.database;
    this.#sessions = parts.sessions;
    this.#lastSeen = parts.lastSeen;
    this.#accessTokens = parts.accessTokens;
    this.#logout = parts.logout;
  }

  /** Returns the code with which a browser goes to the console, good for a minute. @throws BadRequestError */
  async issueCode(session: Session, codeChallenge: string): Promise<string> {
    if (session.clientId !== null || session.deploymentId !== null)
      throw new BadRequestError('The session of a program is not shown at the console');
    return this.#database.transact((transaction) => issueConsoleCode(transaction, session, codeChallenge));
  }

  /** Exchanges a code for a console token. @throws BadRequestError */
  async open({ code, verifier }: { code: string; verifier: string }): Promise<ConsoleSession> {
    const opened = await this.#database.transact(
      audited(async (transaction, audit) => {
        const redemption = await redeemConsoleCode(transaction, code, verifier);
        if (redemption.kind === 'reused') await endConsoleToken(transaction, audit, redemption);
        if (redemption.kind !== 'granted') return null;
        const live = await this.#sessions.findById(redemption.sessionId, transaction).catch(nullIfEnded);
        return live && openConsoleToken(transaction, audit, live.session, code);
      }),
    );
    if (opened) return { token: opened.token, expires_at: opened.expiresAt.toISOString() };
    throw new BadRequestError('The code does not work (any more): begin again', { code: 'console_code_invalid' });
  }

  /** Makes an access token, which counts as a use of the session. @throws UnauthorizedError */
  async issueAccessToken(token: string): Promise<ConsoleAccessToken> {
    const { session: found } = await this.#sessions.findByConsoleToken(token);
    this.#lastSeen.record(found.id);
    const { session, endsAt } = await this.#sessions.findById(found.id);
    const issued = await this.#accessTokens.sign({ sessionId: session.id, personId: session.personId }, endsAt);
    return { access_token: issued.token, expires_in: issued.expiresInSeconds };
  }

  /** Ends a session. @returns where the browser goes to sign out at the provider too; null when it need not */
  async end(token: string): Promise<string | null> {
    const where = { consoleTokenSha256: hashSecret(token) };
    const session = await this.#database.prisma.session.findUnique({ where, select: { id: true } });
    return session && this.#logout.end(session);
  }
}

async function openConsoleToken(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  session: Session,
  code: string,
): Promise<{ token: string; expiresAt: Date } | null> {
  const token = makeSessionToken();
  const tokenSha256 = hashSecret(token);
  const { count } = await transaction.session.updateMany({
    where: { id: session.id, endedAt: null, ...OF_BROWSERS },
    data: { consoleTokenSha256: tokenSha256 },
  });
  if (count === 0) return null;
  await noteConsoleToken(transaction, code, { sessionId: session.id, tokenSha256 });
  await record(transaction, audit, session, 'session.console_opened');
  return { token, expiresAt: session.expiresAt };
}

/** Ends the console token that a code opened which came back. One that was opened since stays. */
async function endConsoleToken(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { sessionId: id, tokenSha256 }: { sessionId: string; tokenSha256: Uint8Array<ArrayBuffer> },
): Promise<void> {
  const [session] = await transaction.session.updateManyAndReturn({
    where: { id, consoleTokenSha256: tokenSha256 },
    data: { consoleTokenSha256: null },
  });
  if (session) await record(transaction, audit, session, 'session.console_ended', { reason: 'console_code_reused' });
}

function record(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  session: Session,
  action: 'session.console_opened' | 'session.console_ended',
  details: object | null = null,
): Promise<void> {
  const entry = { action, resourceType: 'session', resourceId: session.id, details };
  return actAs({ actorKind: 'person', actorId: session.personId, credentialId: session.id }, () =>
    recordForSession(transaction, audit, session, entry),
  );
}

function nullIfEnded(error: unknown): null {
  if (error instanceof UnauthorizedError) return null;
  throw error;
}
