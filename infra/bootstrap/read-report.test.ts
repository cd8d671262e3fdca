import { describe, expect, it } from 'vitest';
// @ts-expect-error: the bootstrap runs before anything is installed, so it is plain JavaScript.
import { countTests } from './read-report.mjs';

const report = {
  numPassedTests: 1,
  numFailedTests: 1,
  testResults: [
    {
      name: 'relay.test.ts',
      status: 'failed',
      assertionResults: [
        { fullName: 'a relay passes', status: 'passed' },
        { fullName: 'a relay closes', status: 'failed' },
        { fullName: 'a relay needs a network', status: 'skipped' },
        { fullName: 'a relay needs a broker', status: 'pending' },
      ],
    },
    { name: 'broken.test.ts', status: 'failed', assertionResults: [] },
  ],
};

describe('the outcome of a suite', () => {
  it('has the tests that were skipped as failed ones, by name, where infrastructure is required', () => {
    expect(countTests(report, { exitCode: 1, requireInfrastructure: true })).toEqual({
      passed: 1,
      failed: 4,
      skipped: 0,
      wronglySkipped: ['relay.test.ts > a relay needs a network', 'relay.test.ts > a relay needs a broker'],
    });
  });

  it('has them as skipped elsewhere, and a file that does not load as a failure', () => {
    expect(countTests(report, { exitCode: 1, requireInfrastructure: false })).toEqual({
      passed: 1,
      failed: 2,
      skipped: 2,
      wronglySkipped: [],
    });
  });

  it('fails when only the exit code says so', () => {
    const empty = { numPassedTests: 0, numFailedTests: 0, testResults: [] };
    expect(countTests(empty, { exitCode: 1, requireInfrastructure: true })).toMatchObject({ failed: 1 });
  });
});
