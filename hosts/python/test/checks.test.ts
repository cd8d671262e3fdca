/** Format, lint, types and tests of the package, which is in Python: each counts among the tests of the repository. */
import { join } from 'node:path';
import { runProgram, runPytest } from '@runyard/test-kit/python';
import { describe, expect, it } from 'vitest';
import { FOLDER, python } from './python-host.ts';

const CACHES = join(FOLDER, '../../node_modules/.cache');

async function check(...args: string[]): Promise<string> {
  const { code, output } = await runProgram(python, ['-m', ...args], { cwd: FOLDER });
  return code === 0 ? '' : output;
}

describe('the host of Python projects', () => {
  it('is formatted', async () => {
    expect(await check('ruff', 'format', '--check', '--cache-dir', join(CACHES, 'ruff'))).toBe('');
  });

  it('has no line that the linter warns about', async () => {
    expect(await check('ruff', 'check', '--cache-dir', join(CACHES, 'ruff'))).toBe('');
  });

  it('has types that hold', async () => {
    expect(await check('mypy', '--cache-dir', join(CACHES, 'mypy'))).toBe('');
  });
});

const tests = await runPytest({ python, folder: FOLDER });

/** The tests themselves are in `tests`. */
describe('the host of Python projects, by its own tests', () => {
  it.each(tests.map((test) => [test.name, test] as const))('%s', (_, { passed, failure }) => {
    if (!passed) throw new Error(failure);
  });
});
