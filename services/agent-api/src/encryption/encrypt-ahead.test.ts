import { NO_ENCRYPTION } from '@runyard/encryption';
import { expect, it, vi } from 'vitest';
import { encryptAhead } from './encrypt-ahead.ts';

const handling = { ...NO_ENCRYPTION, json: { ...NO_ENCRYPTION.json, hasHandlers: true } };
const encrypt = async ({ n }: { n: number }) => `encrypted ${n}`;

it('what a transaction writes is encrypted before it, and in it only when it has become something else', async () => {
  const asked = vi.fn(encrypt);
  const inTransaction = await encryptAhead({ cipher: handling, plain: async () => ({ n: 1 }), encrypt: asked });
  expect(await inTransaction({ n: 1 })).toBe('encrypted 1');
  expect(asked).toHaveBeenCalledTimes(1);
  expect(await inTransaction({ n: 2 })).toBe('encrypted 2');
  expect(asked).toHaveBeenCalledTimes(2);
});

it('nothing is encrypted ahead where there is nothing to write yet, or no handlers are asked', async () => {
  const plain = vi.fn(async () => undefined);
  const asked = vi.fn(encrypt);
  await encryptAhead({ cipher: handling, plain, encrypt: asked });
  const inTransaction = await encryptAhead({ cipher: NO_ENCRYPTION, plain, encrypt: asked });
  expect([plain.mock.calls.length, asked.mock.calls.length]).toEqual([1, 0]);
  expect(await inTransaction({ n: 1 })).toBe('encrypted 1');
});
