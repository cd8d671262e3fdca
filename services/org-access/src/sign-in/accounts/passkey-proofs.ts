import { conforms, PasskeyAssertion } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';
import type { Passkey, Prisma } from '../../generated/client.ts';
import { createToken, findToken, useToken } from './one-time-tokens.ts';
import { bytesOf, challengeIn, type PasskeyRequestOptions, type RelyingParty } from './relying-party.ts';

/** A question to a browser: which passkey its person has. */
export interface PasskeyQuestion {
  options: PasskeyRequestOptions;
  /** Goes into a cookie too, so that only the browser that was asked can answer. */
  challenge: string;
  expiresAt: Date;
}

/** An answer to such a question. */
export interface PasskeyAnswer {
  /** JSON from the page's script. */
  credential: string;
  /** The cookie of the browser. */
  challenge: string | undefined;
}

/** A passkey of which somebody sent a proof. */
export interface PasskeyProof {
  challenge: string;
  passkey: Passkey;
  /** The authenticator's counter; null when the proof is not good. */
  counter: bigint | null;
}

/** Asks browsers for passkeys, and checks their answers. A challenge is answered once, in the browser that got it. */
export class PasskeyProofs {
  readonly #database: Database;
  readonly #party: RelyingParty;

  constructor(options: { database: Database; party: RelyingParty }) {
    this.#database = options.database;
    this.#party = options.party;
  }

  get isAvailable(): boolean {
    return this.#party.isAvailable;
  }

  /**
   * Asks for a passkey.
   *
   * @param personId who gave the password; null asks for a passkey as the only factor
   * @returns null where nobody has a passkey to answer with
   */
  async ask(personId: string | null): Promise<PasskeyQuestion | null> {
    if (!this.isAvailable) return null;
    const { prisma } = this.#database;
    const passkeys = personId === null ? null : await prisma.passkey.findMany({ where: { personId } });
    if (passkeys?.length === 0) return null;
    const { token: challenge, expiresAt } = await this.#database.transact((transaction) =>
      createToken(transaction, {
        purpose: 'passkey',
        details: { use: 'sign_in' },
        ...(personId !== null && { personId }),
      }),
    );
    return { options: this.#party.requestOptions(challenge, passkeys), challenge, expiresAt };
  }

  /**
   * Checks an answer, and changes nothing.
   *
   * @param personId as in the question
   * @throws BadRequestError when the challenge has expired, was used, or is of another browser
   * @returns null when nobody, or somebody else, has the passkey
   */
  async check({ credential, challenge }: PasskeyAnswer, personId: string | null): Promise<PasskeyProof | null> {
    const assertion = parseAssertion(credential);
    if (!assertion) return null;
    if (challenge === undefined || challengeIn(assertion.response) !== challenge) throw challengeExpired();
    const { prisma } = this.#database;
    const token = await findToken(prisma, 'passkey', challenge);
    const isFor = token && (token.details as { use?: string }).use === 'sign_in' && token.personId === personId;
    if (!isFor) throw challengeExpired();
    const passkey = await prisma.passkey.findUnique({ where: { credentialId: bytesOf(assertion.id) } });
    if (!passkey || (personId !== null && passkey.personId !== personId)) return null;
    const expected = { challenge, passkey, isOnlyFactor: personId === null };
    return { challenge, passkey, counter: await this.#party.verifyAssertion(assertion, expected) };
  }

  /**
   * Uses a good proof up.
   *
   * @throws BadRequestError when the challenge was used meanwhile
   * @returns false when the passkey was removed, or its counter went back: then there are two of it
   */
  async use(
    transaction: Prisma.TransactionClient,
    { challenge, passkey, counter }: PasskeyProof & { counter: bigint },
  ): Promise<boolean> {
    if (!(await useToken(transaction, 'passkey', challenge))) throw challengeExpired();
    // Authenticators without a counter always send zero.
    const isNewer: Prisma.PasskeyWhereInput = counter === 0n ? { counter: 0n } : { counter: { lt: counter } };
    const { count } = await transaction.passkey.updateMany({
      where: { id: passkey.id, ...isNewer },
      data: { counter, lastUsedAt: new Date() },
    });
    return count > 0;
  }
}

function parseAssertion(text: string): PasskeyAssertion | null {
  try {
    const value: unknown = JSON.parse(text);
    return conforms(PasskeyAssertion, value) ? value : null;
  } catch {
    return null;
  }
}

export function challengeExpired(): BadRequestError {
  return new BadRequestError('The challenge has expired, or was used: begin again', { code: 'challenge_expired' });
}
