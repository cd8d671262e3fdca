import { expect, it } from 'vitest';
import { asksForAuth } from './needs-auth.ts';

const interrupts = (...values: unknown[]) =>
  Buffer.from(JSON.stringify({ first: [], second: values.map((value) => ({ id: 'i', value })) }));

it.each<[string, Uint8Array | null, boolean]>([
  ['nothing', null, false],
  ['a text with the words', interrupts('"a2a_state":"auth-required"'), false],
  ['another state', interrupts({ a2a_state: 'input-required' }), false],
  ['no object', interrupts(null, 1), false],
  ['a field further inside', interrupts({ more: { a2a_state: 'auth-required' } }), false],
  ['the field', interrupts('What?', { a2a_state: 'auth-required', message: 'Who?' }), true],
])('an interrupt with %s says whether its task waits for an authorization', (_, text, expected) => {
  expect(asksForAuth(text)).toBe(expected);
});
