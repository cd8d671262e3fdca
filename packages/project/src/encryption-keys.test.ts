import { expect, it } from 'vitest';
import { encryptionKeys } from './encryption-keys.ts';

const keysOf = (variables: Record<string, string>) => encryptionKeys((name) => variables[name]);

it('the key that encrypts comes first, and behind it come those that only decrypt', () => {
  expect(keysOf({ LANGGRAPH_AES_KEY: 'old' })).toBe('old');
  expect(keysOf({ LANGGRAPH_AES_KEY: 'old', LANGGRAPH_AES_FALLBACK_KEYS: 'new' })).toBe('old,new');
  const rotated = {
    LANGGRAPH_AES_LEGACY_KEY: 'oldest',
    LANGGRAPH_AES_FALLBACK_KEYS: 'old,older',
    LANGGRAPH_AES_KEY: 'new',
  };
  expect(keysOf(rotated)).toBe('new,old,older,oldest');
  expect(keysOf({})).toBeUndefined();
});

it.each(['LANGGRAPH_AES_LEGACY_KEY', 'LANGGRAPH_AES_FALLBACK_KEYS'])(
  '%s alone, which only decrypts, is refused',
  (name) => {
    expect(() => keysOf({ [name]: 'old' })).toThrow(/LANGGRAPH_AES_KEY, which encrypts, is missing/);
  },
);
