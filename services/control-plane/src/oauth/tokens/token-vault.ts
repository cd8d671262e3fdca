import type { Sealer } from '@runyard/sealing';
import type { OAuthToken } from '../../generated/client.ts';

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
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  seal(token: Pick<OAuthToken, 'id' | 'organizationId'>, secrets: TokenSecrets): string {
    return this.#sealer.seal(JSON.stringify(secrets), place(token));
  }

  open(token: Pick<OAuthToken, 'id' | 'organizationId' | 'sealed' | 'metadata'>): TokenSecrets {
    const secrets = JSON.parse(this.#sealer.open(token.sealed, place(token))) as TokenSecrets;
    // Rows that were encrypted by an older release have their metadata in a column.
    return { ...secrets, metadata: secrets.metadata ?? token.metadata };
  }
}

const place = ({ organizationId, id }: Pick<OAuthToken, 'id' | 'organizationId'>) =>
  `oauth-token/${organizationId}/${id}`;
