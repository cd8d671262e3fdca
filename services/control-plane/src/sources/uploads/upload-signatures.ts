import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Permits one upload until a time. */
export interface UploadGrant {
  uploadId: string;
  /** Seconds since 1970. */
  expires: number;
}

/** Separates these keys from others that are derived from the same secrets. */
const PURPOSE = 'runyard upload url v1';

/**
 * Signs upload URLs with HMAC-SHA-256 over the id of the upload and its expiry. The first of the platform's keys signs;
 * all of them verify.
 */
export class UploadSignatures {
  readonly #keys: [Buffer, ...Buffer[]];

  /** @param encryptionKeys the valid value of ENCRYPTION_KEY */
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
