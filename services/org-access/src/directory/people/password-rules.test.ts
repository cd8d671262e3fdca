import { expect, it } from 'vitest';
import { passwordFault } from './password-rules.ts';

const EMAIL = 'ada.lovelace@example.com';

it.each([
  'password1234',
  'P@ssw0rd2024!',
  'Welcome2024!!!',
  'qwertyuiop123',
  'qwertyuiopas',
  '123456789012',
  '1qaz2wsx3edc',
  '!!1q2w3e4r5t6y!!',
  'aaaaaaaaaaaa',
  'abcabcabcabc',
  'xk3!xk3!xk3!',
  'iloveyou12345',
  'AdminAdmin2025',
  'changeme-changeme',
  'Summer2026!Summer',
  'ρρρρρρρρρρρρ',
])('%j is refused as one that is guessed first', (password) => {
  expect(passwordFault(password, EMAIL)).toContain('guessed first');
});

it('a password that is the address with something added is refused', () => {
  expect(passwordFault('Lovelace-1815!', EMAIL)).toContain('email address');
});

it('a password has at least 12 characters and at most 256, of any kind', () => {
  expect(passwordFault('kv9#mTzQ2xw', EMAIL)).toContain('at least 12');
  expect(passwordFault('correct horse 9 staple '.repeat(12), EMAIL)).toContain('more than 256');
  for (const good of [
    'kv9#mTzQ2xwL',
    'correct horse battery staple',
    'длинная строка слов',
    '七つの海を渡る古い船と灯台の光',
  ])
    expect(passwordFault(good, EMAIL)).toBeUndefined();
});
