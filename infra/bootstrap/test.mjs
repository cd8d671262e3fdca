import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureChromium } from './chromium.mjs';
import { requirePython } from './python.mjs';
import { readOutcome } from './read-report.mjs';
import { installed, repository, run, StepError, say } from './steps.mjs';

/** Has tests start the build that `prepare` has just brought up to date. */
export const ofBuild = { RUNYARD_TESTS_ARE_OF_BUILD: '1' };

/** Checks that do not run the product. */
const checks = [
  { name: 'format and lint', command: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
  // They are of a browser, whose globals no other code has.
  { name: "types of the console's pages", command: 'tsc', args: ['--noEmit', '-p', 'services/console/web'] },
  { name: 'names and files that nobody uses', command: 'knip', args: ['--no-progress', '--no-config-hints'] },
];

/** Suites run one after the other: a fault's effect must not depend on what else wants the processor at that moment. */
const suites = [
  { name: 'unit and integration tests', config: 'vitest.config.ts', isByFolder: true },
  { name: 'fault bench, fast tier', config: 'e2e/faults/vitest.config.ts' },
  { name: 'end-to-end tests', config: 'e2e/vitest.config.ts' },
];

const reporters = ['default', 'json', join(repository, 'packages/test-kit/src/processor-time-reporter.ts')];

/** Returns how many passed and failed, and which failed. Each check counts as one test. */
export async function runChecks() {
  const failures = [];
  for (const { name, command, args } of checks) {
    say(`Checking ${name}`);
    const code = await run(name, installed(command), args, { allowFailure: true });
    if (code !== 0) failures.push({ name, reason: `${command} ended with ${code}` });
  }
  return { passed: checks.length - failures.length, failed: failures.length, skipped: 0, failures };
}

/** Folders whose tests look at all files. */
const everywhere = ['infra/bootstrap', 'infra/docs', 'infra/observability', 'infra/rules'];

/**
 * Runs all checks and all tests. With `requireInfrastructure`, an unavailable server is a failure, and so is a test
 * that was skipped for whatever this machine lacks. With `changedSince`, a ref, only tests of packages that have changed
 * since then, or that depend on those; what looks at the whole platform runs when any of it has.
 */
export async function runTests({ requireInfrastructure, changedSince }) {
  const changed = changedSince === undefined ? undefined : listChangedFolders(changedSince);
  if (changed) say(`Changed since ${changedSince}, or dependent on it: ${changed.join(', ') || 'no package'}`);
  requirePython();
  ensureChromium();
  const env = { ...ofBuild, ...(requireInfrastructure && { RUNYARD_REQUIRE_INFRA: '1' }) };
  const folder = mkdtempSync(join(tmpdir(), 'runyard-reports-'));
  try {
    const outcomes = [];
    for (const suite of suites) {
      if (changed?.length === 0 && !suite.isByFolder) continue;
      const folders = changed && suite.isByFolder ? [...changed, ...everywhere] : [];
      const running = [runSuite(suite, { folder, env, requireInfrastructure, folders })];
      // The first suite waits more than it computes, and the checks compute.
      if (outcomes.length === 0) running.push(runChecks());
      outcomes.push(...(await Promise.all(running)));
    }
    return sum(outcomes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the folders of packages that differ from a ref, uncommitted changes too, and of those that depend on them. */
function listChangedFolders(ref) {
  try {
    const options = {
      cwd: repository,
      env: { ...process.env, TURBO_SCM_BASE: ref },
      stdio: ['ignore', 'pipe', 'pipe'],
    };
    execFileSync('git', ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], options);
    const text = execFileSync(installed('turbo'), ['ls', '--affected', '--output=json'], options).toString();
    return JSON.parse(text).packages.items.map(({ path }) => `${path}/`);
  } catch (error) {
    throw new StepError(
      `There is no telling what has changed since "${ref}": ${error.stderr?.toString().trim() || error.message}`,
    );
  }
}

async function runSuite({ name, config }, { folder, env, requireInfrastructure, folders }) {
  say(`Running ${name}`);
  const report = join(folder, `${name}.json`);
  const code = await run(
    name,
    installed('vitest'),
    [
      'run',
      ...['--config', config],
      ...reporters.map((name) => `--reporter=${name}`),
      `--outputFile.json=${report}`,
      ...folders,
    ],
    { allowFailure: true, env },
  );
  return readReport(name, report, { exitCode: code, requireInfrastructure });
}

function readReport(name, path, options) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // The suite broke before there was anything to report.
    return { passed: 0, failed: 1, skipped: 0, failures: [{ name, reason: 'ended without a report' }] };
  }
  return readOutcome(report, options);
}

function sum(outcomes) {
  const total = (key) => outcomes.reduce((count, outcome) => count + outcome[key], 0);
  return {
    passed: total('passed'),
    failed: total('failed'),
    skipped: total('skipped'),
    failures: outcomes.flatMap(({ failures }) => failures),
  };
}
