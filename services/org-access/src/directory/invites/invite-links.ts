import { randomBytes } from 'node:crypto';
import { hashSecret } from '../../database/hash-secret.ts';

/** Makes the links by which people accept invites. Only the SHA-256 of the secret in them is stored. */
export class InviteLinks {
  readonly #publicUrl: string;

  /** @param publicUrl base URL of the gateway as browsers know it */
  constructor(publicUrl: string) {
    this.#publicUrl = publicUrl.replace(/(?<!\/)\/+$/, '');
  }

  create(): { link: string; tokenSha256: Uint8Array<ArrayBuffer> } {
    const token = randomBytes(32).toString('base64url');
    return { link: `${this.#publicUrl}/login/invite?token=${token}`, tokenSha256: hashSecret(token) };
  }
}
