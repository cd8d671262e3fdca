import {
  ACCESS_TOKEN_AUDIENCE,
  ACCESS_TOKEN_TYPE,
  isUuid,
  MCP_TOKEN_AUDIENCE,
  MCP_TOKEN_TYPE,
} from '@runyard/contracts';
import { UnauthorizedError } from '@runyard/service-kit';
import { createLocalJWKSet, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { SIGNING_ALGORITHM, type SigningKeys } from './signing-keys.ts';

/** The content of a verified access token. */
export interface AccessToken {
  sessionId: string;
  expiresAt: Date;
  /** The deployment whose MCP server it is for, and nothing else; null: for the whole platform. */
  deploymentId: string | null;
}

/**
 * Signs and verifies access tokens: short-lived JWTs with which programs act as a session. They are signed by the keys
 * of principal tokens. Type and audience are of their own, so that no service takes one for a principal token, nor this
 * one a principal token for an access token. Those for one MCP server have another type and audience again.
 */
export class AccessTokens {
  readonly #keys: SigningKeys;
  readonly #ttlSeconds: number;

  constructor(options: { keys: SigningKeys; ttlSeconds: number }) {
    this.#keys = options.keys;
    this.#ttlSeconds = options.ttlSeconds;
  }

  /**
   * @param session.deploymentId set for a session that uses the MCP server of that deployment alone
   * @param notAfter the end of the session: no token outlives it
   */
  async sign(
    { sessionId, personId, deploymentId = null }: { sessionId: string; personId: string; deploymentId?: string | null },
    notAfter: Date,
  ): Promise<{ token: string; expiresInSeconds: number }> {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const exp = Math.min(nowSeconds + this.#ttlSeconds, Math.floor(notAfter.getTime() / 1000));
    const { kid, privateKey } = this.#keys.current();
    const [typ, aud] =
      deploymentId === null
        ? [ACCESS_TOKEN_TYPE, ACCESS_TOKEN_AUDIENCE]
        : [MCP_TOKEN_TYPE, MCP_TOKEN_AUDIENCE + deploymentId];
    const token = await new SignJWT({ sub: personId, sid: sessionId, aud, exp })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ })
      .setIssuedAt(nowSeconds)
      .sign(privateKey);
    return { token, expiresInSeconds: exp - nowSeconds };
  }

  /** Returns whether a text has the form of an access token. */
  static isOne(text: string): boolean {
    const type = typeOf(text);
    return type === ACCESS_TOKEN_TYPE || type === MCP_TOKEN_TYPE;
  }

  /** @throws UnauthorizedError */
  async verify(token: string, { allowsExpired = false } = {}): Promise<AccessToken> {
    try {
      const moment = allowsExpired ? { currentDate: new Date(0) } : {};
      const isForMcp = typeOf(token) === MCP_TOKEN_TYPE;
      const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: this.#keys.publicKeys() }), {
        typ: isForMcp ? MCP_TOKEN_TYPE : ACCESS_TOKEN_TYPE,
        ...(!isForMcp && { audience: ACCESS_TOKEN_AUDIENCE }),
        algorithms: ['EdDSA', 'Ed25519'],
        requiredClaims: ['exp', 'sid', 'aud'],
        ...moment,
      });
      if (!isUuid(payload.sid)) throw new errors.JWTInvalid('sid is no uuid');
      const deploymentId = isForMcp ? deploymentIn(payload) : null;
      return { sessionId: payload.sid, expiresAt: new Date(payload.exp! * 1000), deploymentId };
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError)) throw cause;
      throw new UnauthorizedError('Invalid access token', { code: 'session_invalid', cause });
    }
  }
}

/** Returns the type that a text says it has; undefined for one that is no JWT. */
function typeOf(text: string): string | undefined {
  try {
    return decodeProtectedHeader(text).typ;
  } catch {
    return undefined;
  }
}

/** @throws JWTInvalid */
function deploymentIn({ aud }: JWTPayload): string {
  const id = typeof aud === 'string' && aud.startsWith(MCP_TOKEN_AUDIENCE) ? aud.slice(MCP_TOKEN_AUDIENCE.length) : '';
  if (!isUuid(id)) throw new errors.JWTInvalid('aud names no deployment');
  return id;
}
