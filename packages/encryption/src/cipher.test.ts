import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Cipher, EncryptionError } from './cipher.ts';

const newKey = () => randomBytes(32).toString('base64');

describe('Cipher', () => {
  it('decrypts what it encrypted, and shows nothing of it', () => {
    const cipher = new Cipher(newKey());
    const encrypted = cipher.encrypt('päss wörd', 'deployment/1');
    const bytes = Buffer.from(encrypted.split('.').at(-1)!, 'base64url');
    expect(bytes.length).toBeGreaterThan('päss wörd'.length);
    expect(bytes.includes('päss wörd')).toBe(false);
    expect(cipher.decrypt(encrypted, 'deployment/1')).toBe('päss wörd');
  });

  it('does not decrypt a value that was moved to another place', () => {
    const cipher = new Cipher(newKey());
    expect(() => cipher.decrypt(cipher.encrypt('x', 'deployment/1'), 'deployment/2')).toThrow(EncryptionError);
  });

  it('does not decrypt a value that was changed', () => {
    const cipher = new Cipher(newKey());
    const encrypted = cipher.encrypt('some value', 'here');
    const flipped = `${encrypted.slice(0, -3)}${encrypted.at(-3) === 'A' ? 'B' : 'A'}${encrypted.slice(-2)}`;
    expect(() => cipher.decrypt(flipped, 'here')).toThrow(EncryptionError);
  });

  it('decrypts values of an older key, and encrypts with the newest', () => {
    const [older, newer] = [newKey(), newKey()];
    const before = new Cipher(older).encrypt('x', 'here');
    const both = new Cipher(`${newer},${older}`);
    expect(both.decrypt(before, 'here')).toBe('x');
    expect(() => new Cipher(older).decrypt(both.encrypt('x', 'here'), 'here')).toThrow(/not configured/);
  });

  it.each(['', 'short', 'zz'.repeat(32)])('refuses the key %j', (key) => {
    expect(() => new Cipher(key)).toThrow(EncryptionError);
  });

  it('takes keys in hex too', () => {
    const cipher = new Cipher(randomBytes(32).toString('hex'));
    expect(cipher.decrypt(cipher.encrypt('', 'here'), 'here')).toBe('');
  });
});
