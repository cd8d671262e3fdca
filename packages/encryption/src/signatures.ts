import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/**
 * Signs texts of one purpose with HMAC-SHA-256. The first of the platform's keys signs, and all of them verify. Each
 * purpose has keys of its own, so that no signature is good for another one.
 */
export class Signatures {
  readonly #keys: [Buffer, ...Buffer[]];

  /**
   * @param encryptionKeys the valid value of ENCRYPTION_KEY
   * @param purpose another text for each kind of what is signed
   */
  constructor(encryptionKeys: string, purpose: string) {
    const texts = encryptionKeys
      .split(',')
      .map((text) => text.trim())
      .filter(Boolean);
    this.#keys = texts.map((text) => Buffer.from(hkdfSync('sha256', text, '', `runyard ${purpose}`, 32))) as [
      Buffer,
      ...Buffer[],
    ];
  }

  sign(text: string): string {
    return mac(this.#keys[0], text).toString('base64url');
  }

  isValid(text: string, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    return this.#keys.some((key) => {
      const right = mac(key, text);
      return given.length === right.length && timingSafeEqual(given, right);
    });
  }
}

function mac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
