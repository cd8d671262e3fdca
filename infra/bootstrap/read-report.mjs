/**
 * Counts the tests in a report of vitest (its JSON reporter), and names those that must not have been skipped.
 *
 * With `requireInfrastructure` a skipped test is a failed one, whatever the part that its machine lacks.
 */
export function countTests(report, { exitCode, requireInfrastructure }) {
  const tests = report.testResults.flatMap((file) =>
    file.assertionResults.map((test) => ({ ...test, name: `${file.name} > ${test.fullName}` })),
  );
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed').map(({ name }) => name);
  // A file that does not even load has no tests to count, and still is a failure.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  let failed = report.numFailedTests + brokenFiles.length;
  // Errors outside of tests show only in the exit code.
  if (exitCode !== 0 && failed === 0) failed = 1;
  const passed = report.numPassedTests;
  return requireInfrastructure
    ? { passed, failed: failed + skipped.length, skipped: 0, wronglySkipped: skipped }
    : { passed, failed, skipped: skipped.length, wronglySkipped: [] };
}
