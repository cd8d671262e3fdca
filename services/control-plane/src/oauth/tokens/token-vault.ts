import type { Sealer } from '@runyard/sealing';
import type { OAuthToken } from '../../generated/client.ts';

/** The part of a token that nobody may read in a copy of the database. */
export interface TokenSecrets {
  accessToken: string;
  refreshToken: string | null;
  /** What callers need to use it. A caller may have imported secrets in it. */
  metadata: Record<string, unknown>;
  /** Origin of the token endpoint it came from: a refresh token is never sent anywhere else. */
  origin: string;
}

/** Seals and opens tokens; what is sealed for one does not open for another. */
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
    // What was sealed before metadata was among it has that in the row.
    return { ...secrets, metadata: secrets.metadata ?? token.metadata };
  }
}

const place = ({ organizationId, id }: Pick<OAuthToken, 'id' | 'organizationId'>) =>
  `oauth-token/${organizationId}/${id}`;
