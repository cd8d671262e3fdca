import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed, run, say } from './steps.mjs';

/** What must hold without running the product. */
const checks = [
  { name: 'format and lint', command: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
];

/** One after the other: what a fault does must not depend on what else wants the processor at that moment. */
const suites = [
  { name: 'unit and integration tests', config: 'vitest.config.ts' },
  { name: 'fault bench, fast tier', config: 'e2e/faults/vitest.config.ts' },
  { name: 'end-to-end tests', config: 'e2e/vitest.config.ts' },
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
  const checked = await runChecks();
  // What the tests start is what was built a moment ago.
  const env = { RUNYARD_TESTS_ARE_OF_BUILD: '1', ...(requireInfrastructure && { RUNYARD_REQUIRE_INFRA: '1' }) };
  const folder = mkdtempSync(join(tmpdir(), 'runyard-reports-'));
  try {
    const outcomes = [checked];
    for (const suite of suites) outcomes.push(await runSuite(suite, { folder, env }));
    return sum(outcomes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runSuite({ name, config }, { folder, env }) {
  say(`Running ${name}`);
  const report = join(folder, `${name}.json`);
  const code = await run(
    name,
    installed('vitest'),
    ['run', '--config', config, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    { allowFailure: true, env },
  );
  return readReport(report, code);
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
