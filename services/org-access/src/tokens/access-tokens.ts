import { ACCESS_TOKEN_AUDIENCE, ACCESS_TOKEN_TYPE, isUuid } from '@runyard/contracts';
import { UnauthorizedError } from '@runyard/service-kit';
import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import { SIGNING_ALGORITHM, type SigningKeys } from './signing-keys.ts';

/** The content of a verified access token. */
export interface AccessToken {
  sessionId: string;
  expiresAt: Date;
}

/**
 * Signs and verifies access tokens: short-lived JWTs with which programs act as a session. They are signed by the keys
 * of principal tokens. Type and audience are of their own, so that no service takes one for a principal token, nor this
 * one a principal token for an access token.
 */
export class AccessTokens {
  readonly #keys: SigningKeys;
  readonly #ttlSeconds: number;

  constructor(options: { keys: SigningKeys; ttlSeconds: number }) {
    this.#keys = options.keys;
    this.#ttlSeconds = options.ttlSeconds;
  }

  /** @param notAfter the end of the session: no token outlives it */
  async sign(
    { sessionId, personId }: { sessionId: string; personId: string },
    notAfter: Date,
  ): Promise<{ token: string; expiresInSeconds: number }> {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const exp = Math.min(nowSeconds + this.#ttlSeconds, Math.floor(notAfter.getTime() / 1000));
    const { kid, privateKey } = this.#keys.current();
    const token = await new SignJWT({ sub: personId, sid: sessionId, aud: ACCESS_TOKEN_AUDIENCE, exp })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: ACCESS_TOKEN_TYPE })
      .setIssuedAt(nowSeconds)
      .sign(privateKey);
    return { token, expiresInSeconds: exp - nowSeconds };
  }

  /** Returns whether a text has the form of an access token. */
  static isOne(text: string): boolean {
    try {
      return decodeProtectedHeader(text).typ === ACCESS_TOKEN_TYPE;
    } catch {
      return false;
    }
  }

  /** @throws UnauthorizedError */
  async verify(token: string, { allowsExpired = false } = {}): Promise<AccessToken> {
    try {
      const moment = allowsExpired ? { currentDate: new Date(0) } : {};
      const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: this.#keys.publicKeys() }), {
        audience: ACCESS_TOKEN_AUDIENCE,
        typ: ACCESS_TOKEN_TYPE,
        algorithms: ['EdDSA', 'Ed25519'],
        requiredClaims: ['exp', 'sid'],
        ...moment,
      });
      if (typeof payload.sid !== 'string' || !isUuid(payload.sid)) throw new errors.JWTInvalid('sid is no uuid');
      return { sessionId: payload.sid, expiresAt: new Date(payload.exp! * 1000) };
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError)) throw cause;
      throw new UnauthorizedError('Invalid access token', { code: 'session_invalid', cause });
    }
  }
}
