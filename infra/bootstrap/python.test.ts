import { expect, it } from 'vitest';
import { requirePython } from './python.mjs';

it('a machine without a Python for the tests is told so in one sentence', () => {
  expect(() => requirePython('/nowhere/python3')).toThrow('The tests need Python 3.11 or newer');
  expect(() => requirePython()).not.toThrow();
});
