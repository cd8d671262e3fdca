import { relative } from 'node:path';

/** Lines of a reason that are shown: its beginning, and its end, where the output of a process that ended stands. */
const SHOWN = { first: 4, last: 12 };

/**
 * Reads a report of vitest (its JSON reporter): how many tests passed, failed and were skipped, and for each failure
 * the test's name and its reason, without the stack and shortened.
 *
 * With `requireInfrastructure` a skipped test is a failed one, whatever the part that its machine lacks.
 */
export function readOutcome(report, { exitCode, requireInfrastructure }) {
  const tests = report.testResults.flatMap((file) =>
    file.assertionResults.map((test) => ({ ...test, name: `${nameOfFile(file)} > ${test.fullName}` })),
  );
  const failed = tests.filter(({ status }) => status === 'failed');
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  // A file that does not even load has no tests to count, and still is a failure.
  const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  const failures = [
    ...failed.map((test) => ({ name: test.name, reason: shorten(test.failureMessages?.[0]) })),
    ...broken.map((file) => ({ name: nameOfFile(file), reason: shorten(file.message) })),
    ...(requireInfrastructure ? skipped : []).map(({ name }) => ({
      name,
      reason: 'skipped although infrastructure is required',
    })),
  ];
  if (exitCode !== 0 && failures.length === 0)
    failures.push({ name: 'the suite', reason: 'an error outside of tests' });
  return {
    passed: tests.length - failed.length - skipped.length,
    failed: failures.length,
    skipped: requireInfrastructure ? 0 : skipped.length,
    failures,
  };
}

function nameOfFile(file) {
  return relative(process.cwd(), file.name);
}

function shorten(message = '') {
  const lines = message.split('\n').filter((line) => !/^\s+at /.test(line));
  if (lines.length <= SHOWN.first + SHOWN.last) return lines.join('\n');
  return [...lines.slice(0, SHOWN.first), '…', ...lines.slice(-SHOWN.last)].join('\n');
}
