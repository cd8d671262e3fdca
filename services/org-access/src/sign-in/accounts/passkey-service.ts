import type { AddedPasskey, Passkey as PasskeyBody, PasskeyOptions, PasskeyRegistration } from '@runyard/contracts';
import { BadRequestError, ConflictError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../database/database.ts';
import { isTaken } from '../../database/is-taken.ts';
import type { Passkey, Prisma } from '../../generated/client.ts';
import { type AccountOwner, type AccountService, endOtherSessions } from './account-service.ts';
import { recordForPerson } from './audit-person.ts';
import { createToken, findToken, useToken } from './one-time-tokens.ts';
import { challengeExpired } from './passkey-proofs.ts';
import { challengeIn, type NewPasskey, type RelyingParty } from './relying-party.ts';
import type { SecondFactors } from './second-factors.ts';

const PASSKEYS_MAX = 20;

/** Passkeys of people who have accounts with passwords. */
export class PasskeyService {
  readonly #database: Database;
  readonly #accounts: AccountService;
  readonly #factors: SecondFactors;
  readonly #party: RelyingParty;

  constructor(options: {
    database: Database;
    accounts: AccountService;
    factors: SecondFactors;
    party: RelyingParty;
  }) {
    this.#database = options.database;
    this.#accounts = options.accounts;
    this.#factors = options.factors;
    this.#party = options.party;
  }

  /** True where browsers make passkeys. */
  get isAvailable(): boolean {
    return this.#party.isAvailable;
  }

  async list(personId: string): Promise<PasskeyBody[]> {
    return (await this.#find(personId)).map(render);
  }

  /**
   * Begins to add a passkey, for which the password is asked again.
   *
   * @throws ConflictError where there can be none, UnauthorizedError for a wrong password, TooManyRequestsError
   */
  async begin({ personId, sessionId }: AccountOwner, password: string): Promise<PasskeyOptions> {
    const person = await this.#database.prisma.person.findUniqueOrThrow({
      where: { id: personId },
      include: { password: true },
    });
    if (!this.isAvailable) throw unavailable('Passkeys need an installation with a host name and HTTPS');
    if (!person.password) throw unavailable('The account has no password: its identity provider signs it in');
    await this.#accounts.requirePassword(personId, password);
    const existing = await this.#find(personId);
    if (existing.length >= PASSKEYS_MAX) throw tooMany();
    const { token } = await this.#database.transact((transaction) =>
      createToken(transaction, { purpose: 'passkey', personId, details: { use: 'registration', sessionId } }),
    );
    return this.#party.creationOptions(token, person, existing);
  }

  /**
   * Adds the passkey that a browser made. From the first one on a password alone signs nobody in, so all other sessions
   * end, which were opened without it.
   *
   * @throws BadRequestError when the challenge has expired or the passkey is none for it, ConflictError when it is
   *   registered already, UnauthorizedError when the session has ended meanwhile
   */
  async add(owner: AccountOwner, name: string, registration: PasskeyRegistration): Promise<AddedPasskey> {
    const { personId, sessionId } = owner;
    const challenge = challengeIn(registration.response);
    const token = await findToken(this.#database.prisma, 'passkey', challenge);
    const { use, sessionId: begunBy } = (token?.details ?? {}) as { use?: string; sessionId?: string };
    if (use !== 'registration' || token?.personId !== personId || begunBy !== sessionId) throw challengeExpired();
    const made = await this.#party.verifyRegistration(registration, challenge);
    if (!made) throw new BadRequestError('This is no passkey for this site: begin again', { code: 'passkey_invalid' });
    const add = this.#accounts.change(owner, async (transaction, audit) => {
      if (!(await useToken(transaction, 'passkey', challenge))) throw challengeExpired();
      if ((await transaction.passkey.count({ where: { personId } })) >= PASSKEYS_MAX) throw tooMany();
      const isFirstFactor = !(await this.#factors.isRequired(transaction, personId));
      const passkey = await insert(transaction, personId, name, made);
      const codes = isFirstFactor ? await this.#factors.makeRecoveryCodes(transaction, personId) : null;
      await endOtherSessions(transaction, owner);
      const details = { passkeyId: passkey.id, name };
      await recordForPerson(transaction, audit, personId, { action: 'passkey.added', details });
      return { passkey: render(passkey), recovery_codes: codes };
    });
    return add.catch((error: unknown) => {
      if (!isTaken(error)) throw error;
      throw new ConflictError('This passkey is registered already', { code: 'passkey_exists' });
    });
  }

  /** @returns null when the person has no such passkey */
  async rename(owner: AccountOwner, id: string, name: string): Promise<PasskeyBody | null> {
    const { personId } = owner;
    return this.#accounts.change(owner, async (transaction, audit) => {
      const before = await transaction.passkey.findFirst({ where: { id, personId } });
      if (!before) return null;
      const passkey = await transaction.passkey.update({ where: { id, personId }, data: { name } });
      const details = { passkeyId: id, before: before.name, after: name };
      if (before.name !== name)
        await recordForPerson(transaction, audit, personId, { action: 'passkey.renamed', details });
      return render(passkey);
    });
  }

  /**
   * Removes a passkey, for which the password is asked again, and ends all other sessions: it may have been lost.
   *
   * @throws UnauthorizedError for a wrong password, TooManyRequestsError
   * @returns false when the person has no such passkey
   */
  async remove(owner: AccountOwner, id: string, password: string): Promise<boolean> {
    const { personId } = owner;
    const passkey = await this.#database.prisma.passkey.findFirst({ where: { id, personId } });
    if (!passkey) return false;
    await this.#accounts.requirePassword(personId, password);
    return this.#accounts.change(owner, async (transaction, audit) => {
      const { count } = await transaction.passkey.deleteMany({ where: { id, personId } });
      if (count === 0) return false;
      await this.#factors.dropUnneededCodes(transaction, personId);
      await endOtherSessions(transaction, owner);
      const details = { passkeyId: id, name: passkey.name };
      await recordForPerson(transaction, audit, personId, { action: 'passkey.removed', details });
      return true;
    });
  }

  #find(personId: string): Promise<Passkey[]> {
    return this.#database.prisma.passkey.findMany({
      where: { personId },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
  }
}

function insert(
  transaction: Prisma.TransactionClient,
  personId: string,
  name: string,
  { credentialId, publicKey, counter, transports }: NewPasskey,
): Promise<Passkey> {
  return transaction.passkey.create({
    data: { id: uuidv7(), personId, name, credentialId, publicKey, counter, transports },
  });
}

function render({ id, name, createdAt, lastUsedAt }: Passkey): PasskeyBody {
  return { id, name, created_at: createdAt.toISOString(), last_used_at: lastUsedAt?.toISOString() ?? null };
}

function unavailable(message: string): ConflictError {
  return new ConflictError(message, { code: 'passkeys_unavailable' });
}

function tooMany(): ConflictError {
  return new ConflictError(`An account has at most ${PASSKEYS_MAX} passkeys`, { code: 'passkey_exists' });
}
