import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PLAIN, SealingError, sealedAtRest } from './index.ts';

const text = Buffer.from('{"secret":"tea"}');
const key = 'a'.repeat(32);

describe('bytes at rest', () => {
  it('reveal nothing when encrypted, and can be decrypted', () => {
    const atRest = sealedAtRest(key);
    const sealed = atRest.seal(text);
    expect(sealed.includes('tea')).toBe(false);
    expect(atRest.seal(text).equals(sealed)).toBe(false);
    expect(atRest.open(sealed)).toEqual(text);
    expect(atRest.open(new Uint8Array(sealed))).toEqual(text);
  });

  it('written before there was a key stay readable', () => {
    expect(sealedAtRest(key).open(PLAIN.seal(text))).toEqual(text);
  });

  it('can be decrypted with an older key, and are encrypted with the newest', () => {
    const newer = randomBytes(32).toString('base64');
    const both = sealedAtRest(`${newer}, ${key}`);
    expect(both.open(sealedAtRest(key).seal(text))).toEqual(text);
    expect(() => sealedAtRest(key).open(both.seal(text))).toThrow(/does not have any more/);
  });

  it('cannot be decrypted without a key, or when they were changed', () => {
    const sealed = sealedAtRest(key).seal(text);
    expect(() => PLAIN.open(sealed)).toThrow(/LANGGRAPH_AES_KEY is not configured/);
    sealed[sealed.length - 20] = sealed[sealed.length - 20]! ^ 1;
    expect(() => sealedAtRest(key).open(sealed)).toThrow(SealingError);
  });

  it.each(['', 'short', 'x'.repeat(33)])('are not encrypted with the invalid key %j', (wrong) => {
    expect(() => sealedAtRest(wrong)).toThrow(/LANGGRAPH_AES_KEY must be/);
  });

  it.each([16, 24, 32])('can be encrypted with a key of %i characters', (length) => {
    const atRest = sealedAtRest('k'.repeat(length));
    expect(atRest.open(atRest.seal(text))).toEqual(text);
  });
});
