import { expect, it } from 'vitest';
import { readNumber, readNumbers } from './number-flags.ts';

it('a flag is read as the number that it says', () => {
  expect(readNumber('seconds', '0.5')).toBe(0.5);
  expect(readNumber('settle', '0')).toBe(0);
  expect(readNumbers('clients', '1,8,32')).toEqual([1, 8, 32]);
});

it.each([
  ['seconds', '0', '--seconds takes numbers above 0, not "0".'],
  ['seconds', 'Infinity', '--seconds takes numbers above 0, not "Infinity".'],
  ['settle', '', '--settle takes numbers from 0, not "".'],
  ['rounds', '1.5', '--rounds takes whole numbers from 1, not "1.5".'],
  ['members', '199', '--members takes whole numbers from 200, not "199".'],
] as const)('--%s %j is refused with what it takes', (flag, text, sentence) => {
  expect(() => readNumber(flag, text)).toThrow(sentence);
});

it('a list is refused for one number of it', () => {
  expect(() => readNumbers('mb', '1,ten')).toThrow('--mb takes numbers above 0, not "ten".');
});
