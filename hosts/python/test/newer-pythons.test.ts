import { join } from 'node:path';
import { findPython, preparePython, runPytest } from '@runyard/test-kit/python';
import { describe, expect, it } from 'vitest';
import { FOLDER } from './python-host.ts';

/** Event loops, tasks and types differ between releases of Python, and these tests depend on them. */
const FILES = ['event_buffer', 'leaving', 'loading', 'process', 'runs', 'serialization', 'spans'].map((name) =>
  join(FOLDER, `tests/test_${name}.py`),
);

describe.each(['3.12', '3.13', '3.14'])('the host of Python projects, with Python %s,', async (version) => {
  const interpreter = await findPython(version);
  if (interpreter === undefined) {
    it.skip('is not tested: there is none on the PATH', () => {});
    return;
  }
  const python = await preparePython(join(FOLDER, 'requirements.txt'), interpreter);
  const tests = await runPytest({ python, folder: FOLDER, args: FILES });

  it.each(tests.map((test) => [test.name, test] as const))('%s', (_, { passed, failure }) => {
    if (!passed) throw new Error(failure);
  });

  it('has tests of all these files', () => {
    expect(tests.length).toBeGreaterThan(130);
  });
});
