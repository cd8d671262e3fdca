import { type Logger, UnauthorizedError } from '@runyard/service-kit';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import { changeOrigin } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { tooLate } from './account-sign-in.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import { findToken, useToken } from './one-time-tokens.ts';
import type { PasskeyAnswer, PasskeyProof, PasskeyProofs, PasskeyQuestion } from './passkey-proofs.ts';
import { denySignIn, type OpenedSession, recordDecision, type SignInOutcomes } from './sign-in-outcomes.ts';

type Request = PasskeyAnswer & { userAgent: string | null };

/** Sign-in with a passkey: alone, as it is a key and checks its person, or after the password. */
export class PasskeySignIn {
  readonly #database: Database;
  readonly #limit: AttemptLimit;
  readonly #proofs: PasskeyProofs;
  readonly #outcomes: SignInOutcomes;
  readonly #logger: Pick<Logger, 'info'>;

  constructor(options: {
    database: Database;
    limit: AttemptLimit;
    proofs: PasskeyProofs;
    outcomes: SignInOutcomes;
    logger: Pick<Logger, 'info'>;
  }) {
    this.#database = options.database;
    this.#limit = options.limit;
    this.#proofs = options.proofs;
    this.#outcomes = options.outcomes;
    this.#logger = options.logger;
  }

  /** True where browsers can be asked for passkeys. */
  get isAvailable(): boolean {
    return this.#proofs.isAvailable;
  }

  /**
   * Asks whoever is there for a passkey.
   *
   * @throws TooManyRequestsError
   * @returns null where browsers have none for this address
   */
  async ask(): Promise<PasskeyQuestion | null> {
    await this.#limit.takeForAddress('challenge', changeOrigin().address);
    return this.#proofs.ask(null);
  }

  /**
   * Asks the person whose password was right for a passkey.
   *
   * @param token of the sign-in that waits for its second factor
   * @returns null when the person has none, or the sign-in has expired
   */
  async askAgain(token: string): Promise<PasskeyQuestion | null> {
    const pending = await findToken(this.#database.prisma, 'second_factor', token);
    return pending?.personId ? this.#proofs.ask(pending.personId) : null;
  }

  /**
   * Signs in with a passkey alone.
   *
   * @throws TooManyRequestsError, BadRequestError when the challenge has expired, UnauthorizedError when the proof is not
   *   good, ForbiddenError for a disabled person
   */
  async signIn(request: Request): Promise<OpenedSession> {
    const begun = performance.now();
    const { address } = changeOrigin();
    const proof = await this.#proofs.check(request, null);
    await this.#limit.take('passkey', proof?.passkey.id ?? `unknown from ${address}`, address);
    if (!proof) {
      this.#logger.info('sign-in denied', { reason: 'passkey_unknown', address });
      return denySignIn(begun, null, refused());
    }
    const { personId, id } = proof.passkey;
    const result = await this.#outcomes.change(personId, { isProven: isGood(proof) }, async (transaction, audit) => {
      const fault = await this.#use(transaction, proof);
      const proven = { isFirstFactorRight: fault === null, isSecondFactorProven: fault === null };
      const decision = await this.#outcomes.decide(transaction, personId, proven);
      const details = { method: 'passkey', passkeyId: id, ...decision, ...(fault && { fault }) } as const;
      await recordDecision(transaction, audit, personId, details);
      return decision.outcome === 'signed_in'
        ? this.#outcomes.open(transaction, personId, request.userAgent)
        : decision;
    });
    if ('step' in result) return denySignIn(begun, result, refused());
    await this.#limit.forget('passkey', id, changeOrigin().address);
    return result;
  }

  /**
   * Opens the session of a person whose password was right, and who has a passkey.
   *
   * @throws as `signIn`, and BadRequestError when the password was given too long ago
   */
  async confirm(token: string, request: Request): Promise<OpenedSession> {
    const personId = (await findToken(this.#database.prisma, 'second_factor', token))?.personId;
    if (!personId) throw tooLate();
    const begun = performance.now();
    await this.#limit.take('secondStep', personId, changeOrigin().address);
    const proof = await this.#proofs.check(request, personId);
    const result = await this.#outcomes.change(personId, { isProven: true }, async (transaction, audit) => {
      const fault = proof ? await this.#use(transaction, proof) : 'passkey_unknown';
      const details = { method: 'password', ...(proof && { passkeyId: proof.passkey.id }) } as const;
      if (fault !== null) return denyFactor(transaction, audit, personId, { ...details, fault });
      if (!(await useToken(transaction, 'second_factor', token))) throw tooLate();
      const proven = { isFirstFactorRight: true, isSecondFactorProven: true };
      const decision = await this.#outcomes.decide(transaction, personId, proven);
      await recordDecision(transaction, audit, personId, { ...details, ...decision, factor: 'passkey' });
      return decision.outcome === 'signed_in'
        ? this.#outcomes.open(transaction, personId, request.userAgent)
        : decision;
    });
    if (result === null || 'step' in result) return denySignIn(begun, result, refused());
    await this.#limit.forget('secondStep', personId, changeOrigin().address);
    return result;
  }

  /** Uses a proof up. @returns why it does not count; null when it does */
  async #use(transaction: Prisma.TransactionClient, proof: PasskeyProof): Promise<string | null> {
    if (!isGood(proof)) return 'proof_wrong';
    return (await this.#proofs.use(transaction, proof)) ? null : 'counter_went_back';
  }
}

function isGood(proof: PasskeyProof): proof is PasskeyProof & { counter: bigint } {
  return proof.counter !== null;
}

async function denyFactor(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  personId: string,
  details: { method: 'password'; fault: string },
): Promise<null> {
  const denial = { ...details, step: 3, outcome: 'denied', reason: 'passkey_wrong' };
  await recordDecision(transaction, audit, personId, denial);
  return null;
}

function refused(): UnauthorizedError {
  return new UnauthorizedError('The passkey is unknown here, or its proof is not good', { code: 'passkey_refused' });
}
