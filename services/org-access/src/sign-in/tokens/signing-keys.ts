import { takeAdvisoryLock } from '@runyard/database';
import type { Cipher } from '@runyard/encryption';
import { EncryptionError } from '@runyard/encryption';
import { type Logger, PeriodicTask } from '@runyard/service-kit';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Prisma, PrismaClient } from '../../generated/client.ts';

export interface CurrentKey {
  kid: string;
  privateKey: CryptoKey;
}

export const SIGNING_ALGORITHM = 'EdDSA';
const REFRESH_MS = 60_000;
/** Longer than the lifetime of a token plus the time until every process knows the new key. */
const RETIRED_KEY_PUBLISHED_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Manages the keys that sign principal tokens. All processes of this service share them through the database. The
 * newest key signs. It is replaced when it is `rotationDays` old, or when no configured encryption key decrypts it. Its
 * predecessor stays in the published set until no token of it can be valid.
 */
export class SigningKeys {
  readonly #prisma: PrismaClient;
  readonly #cipher: Cipher;
  readonly #logger: Logger;
  readonly #rotationMs: number;
  #current: CurrentKey | undefined;
  #publicKeys: JWK[] = [];
  readonly #task: PeriodicTask;

  constructor(options: { prisma: PrismaClient; cipher: Cipher; logger: Logger; rotationDays: number }) {
    this.#prisma = options.prisma;
    this.#cipher = options.cipher;
    this.#logger = options.logger;
    this.#rotationMs = options.rotationDays * DAY_MS;
    const { logger } = options;
    this.#task = new PeriodicTask({ name: 'signing keys', everyMs: REFRESH_MS, run: () => this.refresh(), logger });
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  current(): CurrentKey {
    if (!this.#current) throw new Error('Signing keys are not loaded.');
    return this.#current;
  }

  /** Returns the public keys of the current key and of recently retired ones. */
  publicKeys(): JWK[] {
    return this.#publicKeys;
  }

  /** Reads the keys from the database, after it has replaced the current one if that is due. */
  async refresh(): Promise<void> {
    const newest = await this.#newest();
    const isDue = !newest || Date.now() - newest.createdAt.getTime() >= this.#rotationMs;
    const decrypted = newest && !isDue ? await this.#decrypt(newest) : undefined;
    this.#current = decrypted ?? (await this.#replace(newest?.kid));
    const rows = await this.#prisma.signingKey.findMany({
      where: { OR: [{ retiredAt: null }, { retiredAt: { gt: new Date(Date.now() - RETIRED_KEY_PUBLISHED_MS) } }] },
      orderBy: { createdAt: 'desc' },
    });
    this.#publicKeys = rows.map((row) => row.publicJwk as JWK);
  }

  #newest() {
    return this.#prisma.signingKey.findFirst({ where: { retiredAt: null }, orderBy: { createdAt: 'desc' } });
  }

  /**
   * Retires the newest key and creates another. Of several processes at once, one does so and the others use its key.
   */
  async #replace(replacedKid: string | undefined): Promise<CurrentKey> {
    const { publicKey, privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { crv: 'Ed25519', extractable: true });
    const publicJwk = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(publicJwk);
    const isCreated = await this.#prisma.$transaction(async (transaction) => {
      await takeAdvisoryLock(transaction, 'signing key rotation');
      const newest = await transaction.signingKey.findFirst({
        where: { retiredAt: null },
        orderBy: { createdAt: 'desc' },
      });
      if (newest && newest.kid !== replacedKid) return false;
      await transaction.signingKey.updateMany({ where: { retiredAt: null }, data: { retiredAt: new Date() } });
      await transaction.signingKey.create({
        data: {
          kid,
          publicJwk: { ...publicJwk, kid, alg: SIGNING_ALGORITHM, use: 'sig' } as Prisma.InputJsonObject,
          encryptedPrivateJwk: this.#cipher.encrypt(
            JSON.stringify(await exportJWK(privateKey)),
            encryptionContextOf(kid),
          ),
        },
      });
      return true;
    });
    if (isCreated) {
      this.#logger.info('signing key created', { kid });
      return { kid, privateKey };
    }
    const theirs = await this.#newest();
    const decrypted = theirs && (await this.#decrypt(theirs));
    if (!decrypted)
      throw new Error('Another process made a signing key that cannot be decrypted here: ENCRYPTION_KEY differs.');
    return decrypted;
  }

  async #decrypt(row: { kid: string; encryptedPrivateJwk: string }): Promise<CurrentKey | undefined> {
    try {
      const jwk = JSON.parse(this.#cipher.decrypt(row.encryptedPrivateJwk, encryptionContextOf(row.kid))) as JWK;
      return { kid: row.kid, privateKey: (await importJWK(jwk, SIGNING_ALGORITHM)) as CryptoKey };
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      this.#logger.warn('signing key undecryptable, replacing it', { kid: row.kid, error });
      return undefined;
    }
  }
}

const encryptionContextOf = (kid: string) => `signing-key/${kid}`;
