import { UnauthorizedError } from '@runyard/service-kit';
import { sessionsInReach } from '../../access/credentials/reach.ts';
import type { Queries } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { UseRecorder } from '../../database/use-recorder.ts';
import type { PrismaClient, Session } from '../../generated/client.ts';

export interface SessionLimits {
  /** Seconds after sign-in. */
  maxSeconds: number;
  /** Seconds without a request. */
  idleSeconds: number;
  /** Seconds after a person allowed a program, used or not. */
  programSeconds: number;
}

/** A session that has not ended, and when it will. */
export interface LiveSession {
  session: Session;
  /** Its end when it is not used again. */
  endsAt: Date;
}

/** Milliseconds that a replaced token still counts. */
const REPLACED_TOKEN_MS = 10_000;

/** Finds sessions that have not ended: signed out, expired, or unused for too long. */
export class LiveSessions {
  readonly #prisma: PrismaClient;
  readonly #limits: SessionLimits;
  readonly #lastSeen: UseRecorder;

  constructor(options: { prisma: PrismaClient; limits: SessionLimits; lastSeen: UseRecorder }) {
    this.#prisma = options.prisma;
    this.#limits = options.limits;
    this.#lastSeen = options.lastSeen;
  }

  /**
   * Finds a session by its token. The one before the last rotation counts for some seconds, for requests that a browser
   * sent meanwhile, and to the end for those in progress.
   *
   * @throws UnauthorizedError
   */
  async findByToken(token: string, { isInProgress = false } = {}): Promise<LiveSession> {
    const tokenSha256 = hashSecret(token);
    const replacedAfter = new Date(Date.now() - REPLACED_TOKEN_MS);
    const replaced = {
      previousTokenSha256: tokenSha256,
      ...(isInProgress ? {} : { rotatedAt: { gt: replacedAfter } }),
    };
    return this.#requireLive(await this.#prisma.session.findFirst({ where: { OR: [{ tokenSha256 }, replaced] } }));
  }

  /**
   * Finds a session by its console token, which the backend of the console alone shows: it counts for nothing in a cookie
   * of the platform's own host.
   *
   * @throws UnauthorizedError
   */
  async findByConsoleToken(token: string): Promise<LiveSession> {
    const consoleTokenSha256 = hashSecret(token);
    return this.#requireLive(await this.#prisma.session.findUnique({ where: { consoleTokenSha256 } }));
  }

  /** @throws UnauthorizedError */
  async findById(id: string, queries: Queries = this.#prisma): Promise<LiveSession> {
    return this.#requireLive(await queries.session.findUnique({ where: { id } }));
  }

  /** Returns the sessions that one may see and end, itself included; the one that was used last first. */
  async listFor(session: Session): Promise<LiveSession[]> {
    const where = { ...sessionsInReach(session), endedAt: null, expiresAt: { gt: new Date() } };
    const sessions = await this.#prisma.session.findMany({ where });
    return sessions
      .map((session) => this.#withEnd(session))
      .filter(({ endsAt }) => endsAt.getTime() > Date.now())
      .sort((one, other) => other.session.lastSeenAt.getTime() - one.session.lastSeenAt.getTime());
  }

  #requireLive(session: Session | null): LiveSession {
    if (!session) throw new UnauthorizedError('Invalid session', { code: 'session_invalid' });
    const live = this.#withEnd(session);
    if (session.endedAt || live.endsAt.getTime() <= Date.now())
      throw new UnauthorizedError('The session has ended: sign in again', { code: 'session_ended' });
    return live;
  }

  #withEnd(session: Session): LiveSession {
    const lastSeenAt = this.#lastSeen.unstored(session.id) ?? session.lastSeenAt;
    const end = Math.min(session.expiresAt.getTime(), ...this.#limitsOf({ ...session, lastSeenAt }));
    return { session: { ...session, lastSeenAt }, endsAt: new Date(end) };
  }

  #limitsOf({ clientId, createdAt, lastSeenAt }: Session): number[] {
    const { maxSeconds, idleSeconds, programSeconds } = this.#limits;
    if (clientId !== null) return [createdAt.getTime() + programSeconds * 1000];
    return [createdAt.getTime() + maxSeconds * 1000, lastSeenAt.getTime() + idleSeconds * 1000];
  }
}
