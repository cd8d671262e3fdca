import { BadRequestError, type Logger, UnauthorizedError } from '@runyard/service-kit';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import { changeOrigin } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import { normalizeEmail } from '../../directory/people/normalize-email.ts';
import { verifyPassword } from '../../directory/people/password-hash.ts';
import type { Prisma } from '../../generated/client.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import { createToken, findToken, useToken } from './one-time-tokens.ts';
import type { SecondFactors } from './second-factors.ts';
import { denySignIn, type OpenedSession, recordDecision, type SignInOutcomes } from './sign-in-outcomes.ts';

const method = 'password';

/** The password was right. The token stands for it while the person proves the second factor. */
export interface PendingSecondFactor {
  kind: 'second_factor_required';
  token: string;
  expiresAt: Date;
}

/** The links that prove a person, or stand for the operator's word. */
type LinkKind = 'invite' | 'first_administrator' | 'sign_in_link';

/** Sign-in with email and password. */
export class AccountSignIn {
  readonly #database: Database;
  readonly #limit: AttemptLimit;
  readonly #factors: SecondFactors;
  readonly #logger: Pick<Logger, 'info'>;
  readonly #outcomes: SignInOutcomes;

  constructor(options: {
    database: Database;
    limit: AttemptLimit;
    factors: SecondFactors;
    logger: Pick<Logger, 'info'>;
    outcomes: SignInOutcomes;
  }) {
    this.#database = options.database;
    this.#limit = options.limit;
    this.#factors = options.factors;
    this.#logger = options.logger;
    this.#outcomes = options.outcomes;
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
      return denySignIn(begun, null, credentialsWrong());
    }
    const { id: personId } = person;
    if (isPasswordRight) await this.#limit.forget('account', email, changeOrigin().address);
    if (isPasswordRight && code !== undefined) await this.#limit.take('secondStep', personId, changeOrigin().address);
    const result = await this.#outcomes.change(personId, { isProven: isPasswordRight }, async (transaction, audit) => {
      // The password may have been changed since it was read.
      const current = await transaction.passwordCredential.findUnique({ where: { personId } });
      const isRight = isPasswordRight && current?.hash === person.password?.hash;
      const factor = isRight && code !== undefined ? await this.#factors.use(transaction, personId, code) : null;
      const proven = { isFirstFactorRight: isRight, isSecondFactorProven: factor !== null };
      const decision = await this.#outcomes.decide(transaction, personId, proven);
      if (code !== undefined && decision.outcome === 'second_factor_required') {
        await recordDecision(transaction, audit, personId, { method, ...decision, reason: 'code_wrong' });
        return { decision: null };
      }
      await recordDecision(transaction, audit, personId, { method, ...decision, ...(factor && { factor }) });
      if (decision.outcome === 'denied') return { decision };
      if (decision.outcome === 'signed_in')
        return { opened: await this.#outcomes.open(transaction, personId, request.userAgent) };
      const token = await createToken(transaction, { purpose: 'second_factor', personId });
      return { opened: { kind: decision.outcome, ...token } };
    });
    if (result.opened?.kind === 'signed_in' && code !== undefined)
      await this.#limit.forget('secondStep', personId, changeOrigin().address);
    return result.opened ?? denySignIn(begun, result.decision, result.decision ? credentialsWrong() : codeWrong());
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
    const opened = await this.#outcomes.change(personId, { isProven: true }, async (transaction, audit) => {
      const factor = await this.#factors.use(transaction, personId, request.code);
      if (factor === null) {
        const denial = { method, step: 3, outcome: 'denied', reason: 'code_wrong' } as const;
        await recordDecision(transaction, audit, personId, denial);
        return null;
      }
      if (!(await useToken(transaction, 'second_factor', request.token))) throw tooLate();
      const proven = { isFirstFactorRight: true, isSecondFactorProven: true };
      const decision = await this.#outcomes.decide(transaction, personId, proven);
      await recordDecision(transaction, audit, personId, { method, ...decision, factor });
      return decision.outcome === 'signed_in'
        ? this.#outcomes.open(transaction, personId, request.userAgent)
        : decision;
    });
    if (opened === null) return denySignIn(begun, null, codeWrong());
    if ('step' in opened) return denySignIn(begun, opened, credentialsWrong());
    await this.#limit.forget('secondStep', personId, changeOrigin().address);
    return opened;
  }

  /** Opens a session for a person who has just proven who they are in another way, such as the link of an invite. */
  async open(
    transaction: Prisma.TransactionClient,
    audit: AuditRecorder,
    { personId, userAgent, by }: { personId: string; userAgent: string | null; by: LinkKind },
  ): Promise<OpenedSession> {
    const proof = by === 'sign_in_link' ? 'link' : method;
    await recordDecision(transaction, audit, personId, { method: proof, step: 4, outcome: 'signed_in', by });
    return this.#outcomes.open(transaction, personId, userAgent);
  }
}

/** Refuses a second step whose first one is too long ago, or was completed. */
export function tooLate(): BadRequestError {
  return new BadRequestError('This sign-in has expired: begin again', { code: 'link_expired' });
}

function credentialsWrong(): UnauthorizedError {
  return new UnauthorizedError('The email address or the password is wrong', { code: 'sign_in_refused' });
}

function codeWrong(): UnauthorizedError {
  return new UnauthorizedError('The code is wrong, or was used already', { code: 'second_factor_refused' });
}
