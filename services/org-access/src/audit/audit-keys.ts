import { CHECKPOINT_ALGORITHM, CHECKPOINT_TYPE, type Checkpoint } from '@runyard/audit-chain';
import { takeAdvisoryLock } from '@runyard/database';
import { type Cipher, EncryptionError } from '@runyard/encryption';
import type { Logger } from '@runyard/service-kit';
import {
  CompactSign,
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose';
import type { PrismaClient } from '../generated/client.ts';

interface Key {
  kid: string;
  publicJwk: JWK;
  privateKey: CryptoKey;
}

/**
 * The keys that sign positions of audit chains. The newest signs; none is ever replaced by age, because what it signed
 * has to stay verifiable. A key counts only if its private half can be decrypted: whoever writes to the database alone
 * cannot add one.
 */
export class AuditKeys {
  readonly #prisma: PrismaClient;
  readonly #cipher: Cipher;
  readonly #logger: Logger;
  #keys: Key[] = [];

  constructor(options: { prisma: PrismaClient; cipher: Cipher; logger: Logger }) {
    this.#prisma = options.prisma;
    this.#cipher = options.cipher;
    this.#logger = options.logger;
  }

  /**
   * Loads the keys, creates the first, and encrypts them with the newest encryption key, so that they outlive the
   * older ones.
   */
  async start(): Promise<void> {
    this.#keys = await this.#prisma.$transaction(async (transaction) => {
      await takeAdvisoryLock(transaction, 'audit key');
      const rows = await transaction.auditKey.findMany({ orderBy: { createdAt: 'desc' } });
      const keys: Key[] = [];
      for (const { kid, encryptedPrivateJwk } of rows) {
        const jwk = this.#decrypt(kid, encryptedPrivateJwk);
        if (!jwk) continue;
        keys.push(await toKey(kid, jwk));
        await transaction.auditKey.update({ where: { kid }, data: { encryptedPrivateJwk: this.#encrypt(kid, jwk) } });
      }
      if (keys.length > 0) return keys;
      const pair = await generateKeyPair(CHECKPOINT_ALGORITHM, { crv: 'Ed25519', extractable: true });
      const jwk = await exportJWK(pair.privateKey);
      const kid = await calculateJwkThumbprint(jwk);
      const key = await toKey(kid, jwk);
      await transaction.auditKey.create({
        data: { kid, publicJwk: { ...key.publicJwk }, encryptedPrivateJwk: this.#encrypt(kid, jwk) },
      });
      this.#logger.info('audit key created', { kid });
      return [key];
    });
  }

  publicKeys(): JWK[] {
    return this.#keys.map(({ publicJwk }) => publicJwk);
  }

  /** Returns the checkpoint as a compact JWS. */
  async sign(checkpoint: Checkpoint): Promise<string> {
    const { kid, privateKey } = this.#keys[0]!;
    return new CompactSign(new TextEncoder().encode(JSON.stringify(checkpoint)))
      .setProtectedHeader({ alg: CHECKPOINT_ALGORITHM, kid, typ: CHECKPOINT_TYPE })
      .sign(privateKey);
  }

  #encrypt(kid: string, jwk: JWK): string {
    return this.#cipher.encrypt(JSON.stringify(jwk), `audit-key/${kid}`);
  }

  #decrypt(kid: string, encrypted: string): JWK | undefined {
    try {
      return JSON.parse(this.#cipher.decrypt(encrypted, `audit-key/${kid}`)) as JWK;
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      this.#logger.warn('audit key undecryptable, its checkpoints cannot be verified', { kid, error });
      return undefined;
    }
  }
}

async function toKey(kid: string, jwk: JWK): Promise<Key> {
  const { d: _private, ...publicJwk } = jwk;
  return {
    kid,
    publicJwk: { ...publicJwk, kid, alg: CHECKPOINT_ALGORITHM, use: 'sig' },
    privateKey: (await importJWK(jwk, CHECKPOINT_ALGORITHM)) as CryptoKey,
  };
}
