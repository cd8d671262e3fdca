import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createDataCipher,
  EncryptionError,
  KeyUnavailableError,
  keyHeaderOf,
  keyIdOfHeader,
  NO_ENCRYPTION,
  openDataCipher,
} from './index.ts';

const text = Buffer.from('{"secret":"tea"}');
const key = 'a'.repeat(32);

describe('bytes at rest', () => {
  it('reveal nothing when encrypted, and can be decrypted', () => {
    const cipher = createDataCipher(key);
    const encrypted = cipher.encrypt(text);
    expect(encrypted.includes('tea')).toBe(false);
    expect(cipher.encrypt(text).equals(encrypted)).toBe(false);
    expect(cipher.decrypt(encrypted)).toEqual(text);
    expect(cipher.decrypt(new Uint8Array(encrypted))).toEqual(text);
  });

  it('written before there was a key stay readable', () => {
    expect(createDataCipher(key).decrypt(NO_ENCRYPTION.encrypt(text))).toEqual(text);
  });

  it('can be decrypted with an older key, and are encrypted with the newest', () => {
    const newer = randomBytes(32).toString('base64');
    const both = createDataCipher(`${newer}, ${key}`);
    expect(both.decrypt(createDataCipher(key).encrypt(text))).toEqual(text);
    expect(() => createDataCipher(key).decrypt(both.encrypt(text))).toThrow(/does not have any more/);
  });

  it('are encrypted with the key of the platform where they have to be, and the deployment brings none', () => {
    const platformKeys = `${'p'.repeat(32)},${'q'.repeat(32)}`;
    const guarded = openDataCipher({ platformKeys, mustEncrypt: true });
    const encrypted = guarded.encrypt(text);
    expect(encrypted.includes('tea')).toBe(false);
    expect(createDataCipher(platformKeys.slice(0, 32)).decrypt(encrypted)).toEqual(text);
    expect(openDataCipher({ platformKeys, aesJsonKeys: 'secret' }).json.isEncrypting).toBe(true);

    const own = openDataCipher({ aesKey: key, platformKeys, mustEncrypt: true });
    expect(createDataCipher(key).decrypt(own.encrypt(text))).toEqual(text);
    expect(own.decrypt(encrypted)).toEqual(text);
  });

  it('are not encrypted where they need not be, and what was is still decrypted', () => {
    const platformKeys = 'p'.repeat(32);
    const before = openDataCipher({ platformKeys, mustEncrypt: true, aesJsonKeys: 'secret' });
    const after = openDataCipher({ platformKeys });
    expect(after.isEncrypting).toBe(false);
    expect(after.encrypt(text)).toEqual(text);
    expect(after.decrypt(before.encrypt(text))).toEqual(text);
    const json = { secret: 'tea' };
    const place = { model: 'thread', field: 'metadata' } as never;
    const stored = before.json.encrypt(json, place) as typeof json;
    expect(stored.secret).toMatch(/^encrypted\.aes:/);
    expect(after.json.decrypt(stored)).toEqual(json);
    expect(after.json.with(['secret']).encrypt(json, place)).toEqual(json);
    const strange = { secret: (createDataCipher(key, 'secret').json.encrypt(json, place) as typeof json).secret };
    expect(after.json.decrypt(strange)).toEqual(strange);
  });

  it('cannot be decrypted without a key, or when they were changed', () => {
    const encrypted = createDataCipher(key).encrypt(text);
    expect(() => NO_ENCRYPTION.decrypt(encrypted)).toThrow(/LANGGRAPH_AES_KEY is not configured/);
    encrypted[encrypted.length - 20] = encrypted[encrypted.length - 20]! ^ 1;
    expect(() => createDataCipher(key).decrypt(encrypted)).toThrow(EncryptionError);
    expect(() => createDataCipher(key).decrypt(encrypted)).not.toThrow(KeyUnavailableError);
  });

  it('whose key is missing name it in the error, as their header does', () => {
    const encrypted = createDataCipher(key).encrypt(text);
    const keyId = keyIdOfHeader(keyHeaderOf(encrypted)!);
    expect(keyId).toMatch(/^[0-9a-f]{8}$/);
    for (const cipher of [NO_ENCRYPTION, createDataCipher('b'.repeat(32))]) {
      expect(() => cipher.decrypt(encrypted)).toThrow(
        expect.objectContaining({ constructor: KeyUnavailableError, keyId }),
      );
    }
    expect(keyHeaderOf(text)).toBeUndefined();
  });

  it.each(['', 'short', 'x'.repeat(33)])('are not encrypted with the invalid key %j', (wrong) => {
    expect(() => createDataCipher(wrong)).toThrow(/LANGGRAPH_AES_KEY must be/);
  });

  it.each([16, 24, 32])('can be encrypted with a key of %i characters', (length) => {
    const cipher = createDataCipher('k'.repeat(length));
    expect(cipher.decrypt(cipher.encrypt(text))).toEqual(text);
  });
});
