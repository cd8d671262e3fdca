import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed, run, say } from './steps.mjs';

/** What must hold without running the product. */
const checks = [
  { name: 'format and lint', command: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
];

const suites = [
  { name: 'unit and integration tests', config: 'vitest.config.ts' },
  { name: 'end-to-end tests', config: 'e2e/vitest.config.ts' },
  { name: 'fault bench, fast tier', config: 'e2e/faults/vitest.config.ts' },
];

/** Gives how many passed and failed, each check counted as one test. */
export async function runChecks() {
  const outcome = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, command, args } of checks) {
    say(`Checking ${name}`);
    const code = await run(name, installed(command), args, { allowFailure: true });
    if (code === 0) outcome.passed += 1;
    else outcome.failed += 1;
  }
  return outcome;
}

/** All checks and all tests. With `requireInfrastructure`, a server that cannot be had is a failure rather than a reason to skip. */
export async function runTests({ requireInfrastructure }) {
  const outcomes = [await runChecks()];
  const folder = mkdtempSync(join(tmpdir(), 'runyard-reports-'));
  try {
    for (const [index, { name, config }] of suites.entries()) {
      say(`Running ${name}`);
      const report = join(folder, `${index}.json`);
      await run(
        name,
        installed('vitest'),
        ['run', '--config', config, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
        { allowFailure: true, env: requireInfrastructure ? { RUNYARD_REQUIRE_INFRA: '1' } : {} },
      ).then((code) => outcomes.push(readReport(report, code)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return sum(outcomes);
}

function readReport(path, exitCode) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }; // It broke before there was anything to report.
  }
  // A file that does not even load has no tests to count, and is a failure all the same.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  let failed = report.numFailedTests + brokenFiles.length;
  // Errors outside of tests make only the exit code tell.
  if (exitCode !== 0 && failed === 0) failed = 1;
  return { passed: report.numPassedTests, failed, skipped: report.numPendingTests + report.numTodoTests };
}

function sum(outcomes) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const outcome of outcomes) for (const key of Object.keys(total)) total[key] += outcome[key];
  return total;
}
