import type { Cipher } from '@runyard/encryption';
import { placeOf } from './database/encryption-places.ts';
import type { OAuthToken } from './generated/client.ts';

/** The encrypted part of a token, which nobody may read in a copy of the database. */
export interface TokenSecrets {
  accessToken: string;
  refreshToken: string | null;
  /** Data that callers need to use the token. It may contain secrets that a caller imported. */
  metadata: Record<string, unknown>;
  /** The origin of the token endpoint that issued the token: its refresh token is never sent anywhere else. */
  origin: string;
}

/** Encrypts and decrypts tokens. The ciphertext of one token cannot be decrypted as another's. */
export class TokenVault {
  readonly #cipher: Cipher;

  constructor(cipher: Cipher) {
    this.#cipher = cipher;
  }

  encrypt(token: Pick<OAuthToken, 'id' | 'organizationId'>, secrets: TokenSecrets): string {
    return this.#cipher.encrypt(JSON.stringify(secrets), placeOf.token(token));
  }

  decrypt(token: Pick<OAuthToken, 'id' | 'organizationId' | 'encrypted'>): TokenSecrets {
    return JSON.parse(this.#cipher.decrypt(token.encrypted, placeOf.token(token))) as TokenSecrets;
  }
}
