import { randomBytes } from 'node:crypto';
import type { Cipher } from '@runyard/encryption';
import type { Database } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { Prisma, SsoProvider } from '../../generated/client.ts';
import { SignInRefusedError } from './sign-in-refusal.ts';

const LIFETIME_MS = 10 * 60_000;

export interface PendingSignIn<Facts> {
  provider: SsoProvider;
  facts: Facts;
  returnTo: string;
}

/** Visits of browsers to identity providers, from the redirect to the answer. Each ends once, in the browser that began it. */
export class PendingSignIns {
  readonly #database: Database;
  readonly #cipher: Cipher;

  constructor(options: { database: Database; cipher: Cipher }) {
    this.#database = options.database;
    this.#cipher = options.cipher;
  }

  /** Stores facts for the answer. @returns the `state` or RelayState that comes back with it */
  async begin(visit: {
    providerId: string;
    /** The value of the browser's cookie. */
    browser: string;
    returnTo: string;
    facts: object;
  }): Promise<string> {
    await this.#database.prisma.pendingSignIn.deleteMany({ where: { expiresAt: { lt: new Date() } } });
    return this.#insert(this.#database.prisma, {
      ...visit,
      browserSha256: hashSecret(visit.browser),
      expiresAt: new Date(Date.now() + LIFETIME_MS),
    });
  }

  /** Ends a visit in the browser that began it. @throws SignInRefusedError */
  async end<Facts>(state: string, browser: string): Promise<PendingSignIn<Facts>> {
    const stateSha256 = hashSecret(state);
    // Only one of several answers at once deletes the row.
    const [row] = await this.#database.prisma.$queryRaw<{ encrypted: string; returnTo: string; providerId: string }[]>`
      DELETE FROM pending_sign_in
      WHERE state_sha256 = ${stateSha256} AND browser_sha256 = ${hashSecret(browser)} AND expires_at > now()
      RETURNING encrypted, return_to AS "returnTo", sso_provider_id::text AS "providerId"`;
    const provider = row && (await this.#findProvider(row.providerId));
    if (!provider) throw new SignInRefusedError('sign_in_expired');
    return { provider, returnTo: row.returnTo, facts: this.#decrypt<Facts>(row.encrypted, stateSha256) };
  }

  /** Reads a visit without ending it, for an answer that comes without the browser's cookie. @throws SignInRefusedError */
  async read<Facts>(state: string): Promise<PendingSignIn<Facts>> {
    const stateSha256 = hashSecret(state);
    const row = await this.#database.prisma.pendingSignIn.findFirst({
      where: { stateSha256, expiresAt: { gt: new Date() } },
    });
    const provider = row && (await this.#findProvider(row.ssoProviderId));
    if (!provider) throw new SignInRefusedError('sign_in_expired');
    return { provider, returnTo: row.returnTo, facts: this.#decrypt<Facts>(row.encrypted, stateSha256) };
  }

  /** Replaces the facts of a visit, once, in a transaction. @returns its new state; null when it has ended meanwhile */
  async replace(transaction: Prisma.TransactionClient, state: string, facts: object): Promise<string | null> {
    const stateSha256 = hashSecret(state);
    const row = await transaction.pendingSignIn.findUnique({ where: { stateSha256 } });
    const { count } = await transaction.pendingSignIn.deleteMany({ where: { stateSha256 } });
    if (!row || count === 0) return null;
    const { ssoProviderId: providerId, browserSha256, returnTo, expiresAt } = row;
    return this.#insert(transaction, { providerId, browserSha256, returnTo, expiresAt, facts });
  }

  async #insert(
    queries: Pick<Prisma.TransactionClient, 'pendingSignIn'>,
    visit: {
      providerId: string;
      browserSha256: Uint8Array<ArrayBuffer>;
      returnTo: string;
      expiresAt: Date;
      facts: object;
    },
  ): Promise<string> {
    const state = randomBytes(32).toString('base64url');
    const stateSha256 = hashSecret(state);
    await queries.pendingSignIn.create({
      data: {
        stateSha256,
        ssoProviderId: visit.providerId,
        browserSha256: visit.browserSha256,
        encrypted: this.#cipher.encrypt(JSON.stringify(visit.facts), placeOf(stateSha256)),
        returnTo: visit.returnTo,
        expiresAt: visit.expiresAt,
      },
    });
    return state;
  }

  #decrypt<Facts>(encrypted: string, stateSha256: Uint8Array): Facts {
    return JSON.parse(this.#cipher.decrypt(encrypted, placeOf(stateSha256))) as Facts;
  }

  #findProvider(id: string): Promise<SsoProvider | null> {
    return this.#database.prisma.ssoProvider.findFirst({ where: { id, isEnabled: true } });
  }
}

const placeOf = (stateSha256: Uint8Array) => `pending_sign_in/${Buffer.from(stateSha256).toString('hex')}/encrypted`;
