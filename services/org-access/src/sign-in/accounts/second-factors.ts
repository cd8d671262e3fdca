import { randomBytes } from 'node:crypto';
import type { Cipher } from '@runyard/encryption';
import { Secret, TOTP } from 'otpauth';
import type { Queries } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { Prisma, TotpCredential } from '../../generated/client.ts';

const PERIOD_SECONDS = 30;
const RECOVERY_CODES = 10;
const ISSUER = 'Runyard';

/** The key for an authenticator app. */
export interface TotpSetup {
  secret: string;
  uri: string;
}

/** The person who sets an app up, and the session in which that is done. */
interface SetupOwner {
  personId: string;
  sessionId: string;
}

/**
 * Codes of authenticator apps (TOTP, RFC 6238), and codes for the day when the app or the passkey is lost. Whoever changes
 * the factors of a person holds the lock of that person.
 */
export class SecondFactors {
  readonly #cipher: Cipher;

  constructor(options: { cipher: Cipher }) {
    this.#cipher = options.cipher;
  }

  /** Returns whether a person has to prove more than a password. */
  async isRequired(queries: Queries, personId: string): Promise<boolean> {
    return (await this.hasApp(queries, personId)) || (await queries.passkey.count({ where: { personId } })) > 0;
  }

  /** Returns whether a person has an authenticator app. */
  async hasApp(queries: Queries, personId: string): Promise<boolean> {
    const totp = await queries.totpCredential.findUnique({ where: { personId } });
    return totp?.confirmedAt != null;
  }

  /**
   * Begins the set-up of an app with a new secret, which counts for nothing until the same session confirms it.
   *
   * @returns false when the person has an app
   */
  async begin(transaction: Prisma.TransactionClient, { personId, sessionId }: SetupOwner): Promise<boolean> {
    if (await this.hasApp(transaction, personId)) return false;
    const secret = new Secret({ size: 20 }).base32;
    const begun = {
      encryptedSecret: this.#cipher.encrypt(secret, placeOf(personId)),
      lastStep: null,
      sessionId,
      createdAt: new Date(),
    };
    await transaction.totpCredential.upsert({ where: { personId }, create: { ...begun, personId }, update: begun });
    return true;
  }

  /** Returns the set-up that the session began and did not confirm. */
  async findBegun(queries: Queries, { personId, sessionId }: SetupOwner): Promise<TotpSetup | null> {
    const totp = await queries.totpCredential.findFirst({
      where: { personId, sessionId, confirmedAt: null },
      include: { person: true },
    });
    if (!totp) return null;
    return this.#setupOf(this.#cipher.decrypt(totp.encryptedSecret, placeOf(personId)), totp.person.email);
  }

  /**
   * Ends the set-up with a first code.
   *
   * @returns null when the code is wrong, or another session began the set-up; otherwise new recovery codes, unless those
   *   that were made with another factor stay
   */
  async confirm(
    transaction: Prisma.TransactionClient,
    { personId, sessionId }: SetupOwner,
    code: string,
  ): Promise<{ recoveryCodes: string[] | null } | null> {
    const totp = await transaction.totpCredential.findFirst({ where: { personId, sessionId, confirmedAt: null } });
    if (!totp || !(await this.#useTotp(transaction, totp, code))) return null;
    const isFirst = !(await this.isRequired(transaction, personId));
    await transaction.totpCredential.update({ where: { personId }, data: { confirmedAt: new Date() } });
    return { recoveryCodes: isFirst ? await this.makeRecoveryCodes(transaction, personId) : null };
  }

  /** Replaces the recovery codes of a person. */
  async makeRecoveryCodes(transaction: Prisma.TransactionClient, personId: string): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await transaction.recoveryCode.deleteMany({ where: { personId } });
    await transaction.recoveryCode.createMany({
      data: codes.map((each) => ({ personId, codeSha256: hashCode(each) })),
    });
    return codes;
  }

  /** Deletes the recovery codes of a person who has no second factor any more. */
  async dropUnneededCodes(transaction: Prisma.TransactionClient, personId: string): Promise<void> {
    if (await this.isRequired(transaction, personId)) return;
    await transaction.recoveryCode.deleteMany({ where: { personId } });
  }

  /** Checks a code of the app, or a recovery code, and uses it up. @returns which it was; null for a wrong one */
  async use(
    transaction: Prisma.TransactionClient,
    personId: string,
    code: string,
  ): Promise<'totp' | 'recovery_code' | null> {
    const totp = await transaction.totpCredential.findUnique({ where: { personId } });
    if (totp?.confirmedAt && (await this.#useTotp(transaction, totp, code))) return 'totp';
    const { count } = await transaction.recoveryCode.updateMany({
      where: { personId, codeSha256: hashCode(code), usedAt: null },
      data: { usedAt: new Date() },
    });
    return count > 0 ? 'recovery_code' : null;
  }

  async remove(transaction: Prisma.TransactionClient, personId: string): Promise<boolean> {
    const { count } = await transaction.totpCredential.deleteMany({ where: { personId } });
    await this.dropUnneededCodes(transaction, personId);
    return count > 0;
  }

  /** Removes all second factors of a person with the recovery codes. @returns how many there were of each */
  async removeAll(
    transaction: Prisma.TransactionClient,
    personId: string,
  ): Promise<{ apps: number; passkeys: number; recoveryCodes: number }> {
    const where = { personId };
    const { count: apps } = await transaction.totpCredential.deleteMany({ where });
    const { count: passkeys } = await transaction.passkey.deleteMany({ where });
    const { count: recoveryCodes } = await transaction.recoveryCode.deleteMany({ where });
    return { apps, passkeys, recoveryCodes };
  }

  async #useTotp(transaction: Prisma.TransactionClient, totp: TotpCredential, code: string): Promise<boolean> {
    const { personId, encryptedSecret } = totp;
    const digits = code.replaceAll(/\s/g, '');
    if (!/^\d{6}$/.test(digits)) return false;
    const secret = Secret.fromBase32(this.#cipher.decrypt(encryptedSecret, placeOf(personId)));
    // One step to either side, since clocks differ.
    const delta = new TOTP({ secret, period: PERIOD_SECONDS }).validate({ token: digits, window: 1 });
    if (delta === null) return false;
    const step = BigInt(Math.floor(Date.now() / 1000 / PERIOD_SECONDS) + delta);
    const { count } = await transaction.totpCredential.updateMany({
      where: { personId, OR: [{ lastStep: null }, { lastStep: { lt: step } }] },
      data: { lastStep: step },
    });
    return count > 0;
  }

  #setupOf(secret: string, email: string): TotpSetup {
    const totp = new TOTP({ issuer: ISSUER, label: email, secret: Secret.fromBase32(secret), period: PERIOD_SECONDS });
    return { secret, uri: totp.toString() };
  }
}

const placeOf = (personId: string) => `totp_credential/${personId}/encrypted_secret`;

const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Returns 80 random bits, as letters and digits that are hard to confuse. */
function newRecoveryCode(): string {
  const letters = [...randomBytes(16)].map((byte) => ALPHABET[byte & 31]!).join('');
  return letters.match(/.{4}/g)!.join('-');
}

function hashCode(code: string): Uint8Array<ArrayBuffer> {
  const letters = code.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return hashSecret(letters);
}
