/** Format, lint, types and tests of the package, which is in Python: each counts among the tests of the repository. */
import { join } from 'node:path';
import { findPython, preparePython, runProgram, runPytest } from '@runyard/test-kit/python';
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

/** Event loops, tasks and types differ between releases of Python, and these tests depend on them. */
const OF_RELEASES = ['event_buffer', 'leaving', 'loading', 'process', 'runs', 'serialization', 'spans'].map((name) =>
  join(FOLDER, `tests/test_${name}.py`),
);
const releases = await Promise.all(
  ['3.12', '3.13', '3.14'].map(async (version) => ({ version, interpreter: await findPython(version) })),
);

describe.each(releases.filter(({ interpreter }) => interpreter !== undefined))(
  'the host of Python projects, with Python $version,',
  async ({ interpreter }) => {
    const newer = await preparePython(join(FOLDER, 'requirements.txt'), interpreter);
    const results = await runPytest({ python: newer, folder: FOLDER, args: OF_RELEASES });

    it.each(results.map((test) => [test.name, test] as const))('%s', (_, { passed, failure }) => {
      if (!passed) throw new Error(failure);
    });

    it('has tests of all these files', () => {
      expect(results.length).toBeGreaterThan(130);
    });
  },
);
