import { join } from 'node:path';
import { preparePython, runPytest } from '@runyard/test-kit/python';
import { describe, expect, it } from 'vitest';
import { FOLDER } from './python-host.ts';

/** These tests depend on LangGraph. */
const FILES = ['loading', 'runs', 'serialization', 'spans'].map((name) => join(FOLDER, `tests/test_${name}.py`));

const python = await preparePython(join(FOLDER, 'requirements-oldest.txt'));
const tests = await runPytest({ python, folder: FOLDER, args: FILES });

describe('the host of Python projects, with the oldest LangGraph that it runs,', () => {
  it.each(tests.map((test) => [test.name, test] as const))('%s', (_, { passed, failure }) => {
    if (!passed) throw new Error(failure);
  });

  it('has tests of all these files', () => {
    expect(tests.length).toBeGreaterThan(100);
  });
});
