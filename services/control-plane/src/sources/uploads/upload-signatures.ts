import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Until when whom it was given to may upload. */
export interface UploadGrant {
  uploadId: string;
  /** Seconds since 1970. */
  expires: number;
}

/** Nothing else that is signed with keys made from the same ones passes for the signature of an upload. */
const PURPOSE = 'runyard upload url v1';

/**
 * Signatures of upload URLs: HMAC-SHA-256 over the one object that may be written and the time until when. The first of the
 * platform's keys signs, every one is believed.
 */
export class UploadSignatures {
  readonly #keys: [Buffer, ...Buffer[]];

  /** @param encryptionKeys as ENCRYPTION_KEY has them, checked already */
  constructor(encryptionKeys: string) {
    const texts = encryptionKeys
      .split(',')
      .map((text) => text.trim())
      .filter(Boolean);
    this.#keys = texts.map((text) => Buffer.from(hkdfSync('sha256', text, '', PURPOSE, 32))) as [Buffer, ...Buffer[]];
  }

  sign(grant: UploadGrant): string {
    return mac(this.#keys[0], grant).toString('base64url');
  }

  isValid(grant: UploadGrant, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    return this.#keys.some((key) => {
      const right = mac(key, grant);
      return given.length === right.length && timingSafeEqual(given, right);
    });
  }
}

function mac(key: Buffer, { uploadId, expires }: UploadGrant): Buffer {
  return createHmac('sha256', key).update(`${uploadId}.${expires}`).digest();
}
