import { describe, expect, it } from 'vitest';
// @ts-expect-error: the bootstrap runs before anything is installed, so it is plain JavaScript.
import { readOutcome } from './read-report.mjs';

const report = {
  testResults: [
    {
      name: 'relay.test.ts',
      status: 'failed',
      assertionResults: [
        { fullName: 'a relay passes', status: 'passed' },
        { fullName: 'a relay closes', status: 'failed', failureMessages: ['it is open\n    at relay.test.ts:1'] },
        { fullName: 'a relay needs a network', status: 'skipped' },
        { fullName: 'a relay needs a broker', status: 'pending' },
      ],
    },
    { name: 'broken.test.ts', status: 'failed', message: 'no such import', assertionResults: [] },
  ],
};

describe('the outcome of a suite', () => {
  it('has the tests that were skipped as failed ones, by name, where infrastructure is required', () => {
    expect(readOutcome(report, { exitCode: 1, requireInfrastructure: true })).toEqual({
      passed: 1,
      failed: 4,
      skipped: 0,
      failures: [
        { name: 'relay.test.ts > a relay closes', reason: 'it is open' },
        { name: 'broken.test.ts', reason: 'no such import' },
        { name: 'relay.test.ts > a relay needs a network', reason: 'skipped although infrastructure is required' },
        { name: 'relay.test.ts > a relay needs a broker', reason: 'skipped although infrastructure is required' },
      ],
    });
  });

  it('has them as skipped elsewhere, and a file that does not load as a failure', () => {
    expect(readOutcome(report, { exitCode: 1, requireInfrastructure: false })).toEqual({
      passed: 1,
      failed: 2,
      skipped: 2,
      failures: [
        { name: 'relay.test.ts > a relay closes', reason: 'it is open' },
        { name: 'broken.test.ts', reason: 'no such import' },
      ],
    });
  });

  it('says of a failure how it begins and how it ends, where the output of a process that ended stands', () => {
    const output = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const message = ['it ended:', ...output, '    at relay.test.ts:1'].join('\n');
    const tests = [{ fullName: 'a relay runs', status: 'failed', failureMessages: [message] }];
    const long = { testResults: [{ name: 'relay.test.ts', status: 'failed', assertionResults: tests }] };
    const [{ reason }] = readOutcome(long, { exitCode: 1, requireInfrastructure: true }).failures;
    expect(reason.split('\n')).toEqual(['it ended:', ...output.slice(0, 3), '…', ...output.slice(-12)]);
  });

  it('a suite fails when only the exit code says so', () => {
    const empty = { testResults: [] };
    expect(readOutcome(empty, { exitCode: 1, requireInfrastructure: true })).toMatchObject({
      failed: 1,
      failures: [{ name: 'the suite' }],
    });
  });
});
