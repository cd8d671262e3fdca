import { ForbiddenError, type UnauthorizedError } from '@runyard/service-kit';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { identitiesInReach } from '../../access/credentials/reach.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import { actAs, changeOrigin } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { openSession } from '../sessions/open-session.ts';
import { type AccountDecision, type AccountFacts, decideAccountSignIn } from './account-decision.ts';
import { recordForPerson } from './audit-person.ts';
import { ensureEmailLogin } from './email-login.ts';
import { evenTimeOut } from './even-time.ts';
import type { SecondFactors } from './second-factors.ts';

export interface OpenedSession {
  kind: 'signed_in';
  id: string;
  personId: string;
  /** Stored nowhere. */
  token: string;
  expiresAt: Date;
}

/** Decides about sign-ins to accounts, records the decisions, and opens the sessions. */
export class SignInOutcomes {
  readonly #database: Database;
  readonly #factors: SecondFactors;
  readonly #maxSeconds: number;

  /** @param options.sessionMaxSeconds life of a session */
  constructor(options: { database: Database; factors: SecondFactors; sessionMaxSeconds: number }) {
    this.#database = options.database;
    this.#factors = options.factors;
    this.#maxSeconds = options.sessionMaxSeconds;
  }

  async decide(
    transaction: Prisma.TransactionClient,
    personId: string,
    proven: Pick<AccountFacts, 'isFirstFactorRight' | 'isSecondFactorProven'>,
  ): Promise<AccountDecision> {
    const identities = await transaction.identity.findMany({
      where: identitiesInReach({ personId, ssoOrganizationId: null }),
      select: { disabledAt: true },
    });
    const areDisabled = identities.length > 0 && identities.every(({ disabledAt }) => disabledAt !== null);
    return decideAccountSignIn({
      ...proven,
      identities: areDisabled ? 'all disabled' : identities.length > 0 ? 'some active' : 'none',
      hasSecondFactor: await this.#factors.isRequired(transaction, personId),
    });
  }

  async open(
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

  /**
   * Runs the end of a sign-in. Whoever changes at the same time with what the person signs in, or ends sessions, comes
   * before and is seen by the work, or comes after and ends the session too.
   *
   * @param options.isProven whether it is the person who acts
   */
  change<T>(
    personId: string,
    { isProven }: { isProven: boolean },
    work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<T>,
  ): Promise<T> {
    const locked = audited(async (transaction, audit) => {
      await lockPerson(transaction, personId);
      return work(transaction, audit);
    });
    const change = () => this.#database.transact(locked);
    return isProven ? actAs({ actorKind: 'person', actorId: personId, credentialId: null }, change) : change();
  }
}

/** @param details.method of the first factor */
export function recordDecision(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  personId: string,
  details: { step: number; outcome: string; method: 'password' | 'passkey' | 'link' } & Record<string, unknown>,
): Promise<void> {
  const action =
    details.outcome === 'signed_in'
      ? 'sign_in.allowed'
      : details.outcome === 'denied' || details.reason !== undefined
        ? 'sign_in.denied'
        : 'sign_in.continued';
  return recordForPerson(transaction, audit, personId, { action, details });
}

/**
 * Denies a sign-in, not before the time that every denial takes.
 *
 * @param begun time of `performance.now()` at the begin of the attempt
 * @param refusal what to say, unless the account is disabled
 */
export async function denySignIn(
  begun: number,
  decision: AccountDecision | null,
  refusal: UnauthorizedError,
): Promise<never> {
  await evenTimeOut(begun);
  if (decision?.step === 2)
    throw new ForbiddenError('This account is disabled: ask an administrator', { code: 'account_disabled' });
  throw refusal;
}
