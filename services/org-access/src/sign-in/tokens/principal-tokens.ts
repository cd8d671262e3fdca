import type { PrincipalClaims } from '@runyard/contracts';
import { SignJWT } from 'jose';
import { SIGNING_ALGORITHM, type SigningKeys } from './signing-keys.ts';

/** Signs principal tokens, for one audience and at most a minute. */
export class PrincipalTokens {
  readonly #keys: SigningKeys;
  readonly #ttlSeconds: number;

  constructor(options: { keys: SigningKeys; ttlSeconds: number }) {
    this.#keys = options.keys;
    this.#ttlSeconds = options.ttlSeconds;
  }

  /** @param notAfter the expiry of the credential: no token outlives it */
  async sign(
    claims: Omit<PrincipalClaims, 'exp'>,
    notAfter: Date | null,
  ): Promise<{ token: string; claims: PrincipalClaims }> {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const latest = notAfter ? Math.floor(notAfter.getTime() / 1000) : Number.POSITIVE_INFINITY;
    const complete = { ...claims, exp: Math.max(nowSeconds, Math.min(nowSeconds + this.#ttlSeconds, latest)) };
    const { kid, privateKey } = this.#keys.current();
    const token = await new SignJWT(complete)
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: 'JWT' })
      .setIssuedAt(nowSeconds)
      .sign(privateKey);
    return { token, claims: complete };
  }
}
