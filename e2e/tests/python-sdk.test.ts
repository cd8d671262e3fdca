import { describe, inject, it } from 'vitest';
import { runPythonTests } from '../harness/python.ts';

const { deploymentUrl, apiKey } = inject('platform');
const tests = await runPythonTests({ url: deploymentUrl, apiKey });

/** The tests themselves are in `e2e/python`. */
describe('the official Python clients', () => {
  it.each(tests.map((test) => [test.name, test] as const))('%s', (_, { passed, failure }) => {
    if (!passed) throw new Error(failure);
  });
});
