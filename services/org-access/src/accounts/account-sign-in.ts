import { setTimeout as sleep } from 'node:timers/promises';
import { BadRequestError, ForbiddenError, type Logger, UnauthorizedError } from '@runyard/service-kit';
import { type AuditRecorder, audited } from '../audit/audit-trail.ts';
import { actAs, changeOrigin } from '../audit/change-origin.ts';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { normalizeEmail } from '../people/normalize-email.ts';
import { verifyPassword } from '../people/password-hash.ts';
import { openSession } from '../sessions/open-session.ts';
import { type AccountDecision, decideAccountSignIn } from './account-decision.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import { recordForPerson } from './audit-person.ts';
import { ensureEmailLogin } from './email-login.ts';
import { createToken, findToken, useToken } from './one-time-tokens.ts';
import type { SecondFactors } from './second-factors.ts';

/** A denial takes at least this long, so that its time tells nothing about the account. */
const DENIAL_MS_MIN = 250;

export interface OpenedSession {
  kind: 'signed_in';
  id: string;
  personId: string;
  /** Stored nowhere. */
  token: string;
  expiresAt: Date;
}

/** The password was right. The token stands for it while the person proves the second factor. */
export interface PendingSecondFactor {
  kind: 'second_factor_required';
  token: string;
  expiresAt: Date;
}

/** Sign-in with email and password. */
export class AccountSignIn {
  readonly #database: Database;
  readonly #limit: AttemptLimit;
  readonly #factors: SecondFactors;
  readonly #logger: Pick<Logger, 'info'>;
  readonly #maxSeconds: number;

  /** @param options.sessionMaxSeconds life of a session */
  constructor(options: {
    database: Database;
    limit: AttemptLimit;
    factors: SecondFactors;
    logger: Pick<Logger, 'info'>;
    sessionMaxSeconds: number;
  }) {
    this.#database = options.database;
    this.#limit = options.limit;
    this.#factors = options.factors;
    this.#logger = options.logger;
    this.#maxSeconds = options.sessionMaxSeconds;
  }

  /**
   * Checks a password.
   *
   * @param code of the second factor, where it is sent at once
   * @throws TooManyRequestsError, UnauthorizedError for a wrong password, ForbiddenError for a disabled person
   */
  async signIn(
    request: { email: string; password: string; userAgent: string | null },
    code?: string,
  ): Promise<OpenedSession | PendingSecondFactor> {
    const email = normalizeEmail(request.email);
    const begun = performance.now();
    await this.#limit.take('account', email, changeOrigin().address);
    const person = await this.#database.prisma.person.findUnique({ where: { email }, include: { password: true } });
    const isPasswordRight = await verifyPassword(person?.password?.hash ?? null, request.password);
    if (!person) {
      this.#logger.info('sign-in denied', { reason: 'account_unknown', address: changeOrigin().address });
      return this.#deny(begun, { step: 1, outcome: 'denied', reason: 'credentials_wrong' });
    }
    const { id: personId } = person;
    if (isPasswordRight) await this.#limit.forget('account', email);
    if (isPasswordRight && code !== undefined) await this.#limit.take('secondStep', personId, changeOrigin().address);
    const result = await this.#change(isPasswordRight ? personId : null, async (transaction, audit) => {
      // The password may have been changed since it was read.
      const current = await transaction.passwordCredential.findUnique({ where: { personId } });
      const isRight = isPasswordRight && current?.hash === person.password?.hash;
      const factor = isRight && code !== undefined ? await this.#factors.use(transaction, personId, code) : null;
      const decision = await this.#decide(transaction, personId, isRight, factor !== null);
      if (code !== undefined && decision.outcome === 'second_factor_required') {
        await recordDecision(transaction, audit, personId, { ...decision, reason: 'code_wrong' });
        return { decision: null };
      }
      await recordDecision(transaction, audit, personId, { ...decision, ...(factor && { factor }) });
      if (decision.outcome === 'denied') return { decision };
      if (decision.outcome === 'signed_in')
        return { opened: await this.#open(transaction, personId, request.userAgent) };
      const token = await createToken(transaction, { purpose: 'second_factor', personId });
      return { opened: { kind: decision.outcome, ...token } };
    });
    if (result.opened?.kind === 'signed_in') await this.#limit.forget('secondStep', personId);
    return result.opened ?? this.#deny(begun, result.decision);
  }

  /**
   * Opens the session of a person whose password was right.
   *
   * @throws BadRequestError when the token has expired or was used, UnauthorizedError for a wrong code,
   *   TooManyRequestsError
   */
  async confirmSecondFactor(request: {
    token: string;
    code: string;
    userAgent: string | null;
  }): Promise<OpenedSession> {
    const pending = await findToken(this.#database.prisma, 'second_factor', request.token);
    const personId = pending?.personId;
    if (!personId) throw tooLate();
    const begun = performance.now();
    await this.#limit.take('secondStep', personId, changeOrigin().address);
    const opened = await this.#change(personId, async (transaction, audit) => {
      const factor = await this.#factors.use(transaction, personId, request.code);
      if (factor === null) {
        await recordDecision(transaction, audit, personId, {
          step: 3,
          outcome: 'denied',
          reason: 'code_wrong',
        });
        return null;
      }
      if (!(await useToken(transaction, 'second_factor', request.token))) throw tooLate();
      const decision = await this.#decide(transaction, personId, true, true);
      await recordDecision(transaction, audit, personId, { ...decision, factor });
      return decision.outcome === 'signed_in' ? this.#open(transaction, personId, request.userAgent) : decision;
    });
    if (opened === null) return this.#deny(begun, null);
    if ('step' in opened) return this.#deny(begun, opened);
    await this.#limit.forget('secondStep', personId);
    return opened;
  }

  /** Opens a session for a person who has just proven who they are in another way, such as the link of an invite. */
  async open(
    transaction: Prisma.TransactionClient,
    audit: AuditRecorder,
    { personId, userAgent, by }: { personId: string; userAgent: string | null; by: 'invite' | 'first_administrator' },
  ): Promise<OpenedSession> {
    await recordDecision(transaction, audit, personId, { step: 4, outcome: 'signed_in', by });
    return this.#open(transaction, personId, userAgent);
  }

  async #open(
    transaction: Prisma.TransactionClient,
    personId: string,
    userAgent: string | null,
  ): Promise<OpenedSession> {
    const person = await transaction.person.findUniqueOrThrow({ where: { id: personId } });
    const login = await ensureEmailLogin(transaction, person);
    await transaction.login.update({ where: { id: login.id }, data: { lastUsedAt: new Date() } });
    const expiresAt = new Date(Date.now() + this.#maxSeconds * 1000);
    const { address } = changeOrigin();
    const session = { personId, loginId: login.id, expiresAt, address, userAgent: userAgent?.slice(0, 500) ?? null };
    return { kind: 'signed_in', personId, expiresAt, ...(await openSession(transaction, session)) };
  }

  async #decide(
    transaction: Prisma.TransactionClient,
    personId: string,
    isPasswordRight: boolean,
    isSecondFactorProven: boolean,
  ): Promise<AccountDecision> {
    const identities = await transaction.identity.findMany({
      where: { personId, isRemoved: false },
      select: { disabledAt: true },
    });
    const areDisabled = identities.length > 0 && identities.every(({ disabledAt }) => disabledAt !== null);
    return decideAccountSignIn({
      isPasswordRight,
      identities: areDisabled ? 'all disabled' : identities.length > 0 ? 'some active' : 'none',
      hasSecondFactor: await this.#factors.isRequired(transaction, personId),
      isSecondFactorProven,
    });
  }

  /** @param actorId the person who is known to act; null while that is not proven */
  #change<T>(
    actorId: string | null,
    work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<T>,
  ): Promise<T> {
    const change = () => this.#database.transact(audited(work));
    return actorId === null ? change() : actAs({ actorKind: 'person', actorId, credentialId: null }, change);
  }

  /** @param decision null: the code of the second factor was wrong */
  async #deny(begun: number, decision: AccountDecision | null): Promise<never> {
    await sleep(Math.max(0, DENIAL_MS_MIN - (performance.now() - begun)));
    if (decision?.step === 2)
      throw new ForbiddenError('This account is disabled: ask an administrator', { code: 'account_disabled' });
    if (decision)
      throw new UnauthorizedError('The email address or the password is wrong', { code: 'sign_in_refused' });
    throw new UnauthorizedError('The code is wrong, or was used already', { code: 'second_factor_refused' });
  }
}

function recordDecision(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  personId: string,
  details: { step: number; outcome: string } & Record<string, unknown>,
): Promise<void> {
  const action =
    details.outcome === 'signed_in'
      ? 'sign_in.allowed'
      : details.outcome === 'denied' || details.reason !== undefined
        ? 'sign_in.denied'
        : 'sign_in.continued';
  return recordForPerson(transaction, audit, personId, { action, details: { method: 'password', ...details } });
}

function tooLate(): BadRequestError {
  return new BadRequestError('This sign-in has expired: begin again', { code: 'link_expired' });
}
