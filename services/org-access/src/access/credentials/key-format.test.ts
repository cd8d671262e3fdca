import { describe, expect, it } from 'vitest';
import { hashSecret } from '../../database/hash-secret.ts';
import { isWellFormedKey, makeKey, shortenKey } from './key-format.ts';

describe('the form of a key', () => {
  it('carries the prefix of its kind and at least 160 random bits', () => {
    expect(makeKey('service_key')).toMatch(/^lsv2_sk_[0-9a-f]{40,}_[0-9a-f]{10}$/);
    expect(makeKey('personal_token')).toMatch(/^lsv2_pt_[0-9a-f]{40,}_[0-9a-f]{10}$/);
  });

  it('is refused with a single mistyped character', () => {
    const key = makeKey('service_key');
    expect(isWellFormedKey(key)).toBe(true);
    const at = 20;
    expect(isWellFormedKey(key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1))).toBe(false);
    expect(isWellFormedKey(key.replace('_sk_', '_pt_'))).toBe(false);
  });

  it.each(['', 'lsv2_sk_', 'sk-123', 'x'.repeat(5000), 'lsv2_sk_ä'])('is not %j', (text) => {
    expect(isWellFormedKey(text)).toBe(false);
  });

  it('is shortened to what identifies it', () => {
    const key = makeKey('service_key');
    const short = shortenKey(key);
    expect(short).toHaveLength('lsv2_sk_'.length + 4 + 3 + 4);
    expect(key.startsWith(short.split('...')[0]!)).toBe(true);
  });

  it('is unique, and so is its hash', () => {
    const hashes = Array.from({ length: 100 }, () => Buffer.from(hashSecret(makeKey('service_key'))).toString('hex'));
    expect(new Set(hashes).size).toBe(100);
  });
});
