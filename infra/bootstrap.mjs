// Runs `npm start`, `npm test` and the other commands of package.json, in plain Node without dependencies: on a fresh
// clone nothing is installed yet. Each verb first installs and builds what changed since last time.
//
// package.json says `exec`, so that no shell stands between npm and this process: npm passes SIGTERM on to its child
// alone and then waits for it, and a shell would end without passing it on.
import { parseArgs } from 'node:util';
import { audit } from './bootstrap/audit.mjs';
import { requireCluster } from './bootstrap/cluster.mjs';
import { requireCompose, requireContainerEngine } from './bootstrap/container-engine.mjs';
import { prepare } from './bootstrap/prepare.mjs';
import { readProcessorMinutes } from './bootstrap/processor-time.mjs';
import { installed, run, StepError } from './bootstrap/steps.mjs';
import { ofBuild, runChecks, runTests } from './bootstrap/test.mjs';
import { buildImages } from './docker/images.mjs';

const [verb, ...args] = process.argv.slice(2);

const verbs = {
  /** Starts the whole platform with one project on it; the flags are the launcher's. */
  async start() {
    await prepare();
    process.argv.splice(2, 1);
    await import('./launcher/dist/main.js');
  },
  /**
   * Runs all checks and tests. With `--require-infra` an unavailable server is a failure, and so is a skipped test. With
   * `--changed [REF]` only what has changed since `main`, or that ref, is tested, and what depends on it.
   */
  async test() {
    const { values, positionals } = parseTestArguments(args);
    await prepare();
    const requireInfrastructure = values['require-infra'] || process.env.RUNYARD_REQUIRE_INFRA === '1';
    const changedSince = values.changed ? (positionals[0] ?? 'main') : undefined;
    conclude(await runTests({ requireInfrastructure, changedSince }));
  },
  /** Runs the part of `test` that takes seconds. */
  async check() {
    await prepare();
    conclude(await runChecks());
  },
  /**
   * Fails on known vulnerabilities of what production needs, and when the registry does not answer. Needs nothing
   * installed.
   */
  async audit() {
    audit();
  },
  /** Writes the package that is published. */
  async pack() {
    await prepare();
    process.argv.splice(2, 1);
    await import('./build/pack.mjs');
  },
  /** Builds the images of all services, or of those that are named. Needs nothing installed but an engine and git. */
  async images() {
    await buildImages(args);
  },
  /** Tests images, the compose file and the container driver on the real engine that `docker` reaches. */
  async containers() {
    await requireContainerEngine();
    await requireCompose();
    await runSuite({ name: 'The tests with containers', tool: 'vitest', with: configOf('containers') });
  },
  /** Runs the chart in the real cluster that `kubectl` reaches, with images that the container engine builds. */
  async kubernetes() {
    await requireContainerEngine();
    const env = { RUNYARD_TEST_NODE_ADDRESS: await requireCluster() };
    await runSuite({ name: 'The tests in a cluster', tool: 'vitest', with: configOf('kubernetes'), env });
  },
  /** Measures a platform that it starts. */
  async bench() {
    await prepare();
    await run('The benchmark', installed('tsx'), ['bench/src/main.ts', ...args]);
  },
};

/** Programs that end with the exit code of the verb; further arguments are their own. */
const suites = {
  /** Injects every fault and measures its effects. */
  faults: { name: 'The fault bench', tool: 'tsx', with: ['e2e/faults/main.ts'] },
  /** Runs the fault bench for an hour or more. */
  soak: { name: 'The soak', tool: 'tsx', with: ['e2e/faults/soak.ts'] },
  /** Kills services, workers and the processes that run projects at every step of what they do. */
  kills: { name: 'The tests that kill services', tool: 'vitest', with: configOf('kills'), env: ofBuild },
  /** Moves data of earlier releases, and runs graphs with earlier releases of LangGraph. */
  older: { name: 'The tests with older releases', tool: 'vitest', with: configOf('older'), env: ofBuild },
  /** Measures what requests of strangers cost each service. */
  costs: { name: 'The tests of costs', tool: 'vitest', with: configOf('costs'), env: ofBuild },
  /** Fuzzes a platform of its own with requests from its OpenAPI documents. */
  fuzz: { name: 'The fuzzer', tool: 'tsx', with: ['e2e/fuzz/main.ts'] },
  /** Runs the public conformance suite of MCP against a platform of its own. */
  conformance: { name: 'The conformance suites', tool: 'vitest', with: configOf('conformance'), env: ofBuild },
  /** Runs kits of checks that others wrote against a platform of its own, and installs them from where they are published. */
  kits: { name: 'The kits', tool: 'tsx', with: ['e2e/kits/main.ts'] },
  /** Checks a graph host by its command, in any language. */
  host: { name: 'The suite for graph hosts', tool: 'tsx', with: ['packages/host-protocol/src/suite/main.ts'] },
  /** Asks the agents of a platform of its own by CopilotKit, which it installs from npm. */
  copilotkit: { name: 'The tests with CopilotKit', tool: 'vitest', with: configOf('copilotkit') },
  /** Compares answers with those of the public Python server, which it installs from PyPI. */
  oracle: { name: 'The comparison with the public server', tool: 'vitest', with: configOf('oracle'), env: ofBuild },
  /** Moves many threads between the platform and public servers, of which it installs one from PyPI. */
  moving: { name: 'The moves from and to public servers', tool: 'vitest', with: configOf('moving'), env: ofBuild },
  /** Measures the pages of the console on very much. */
  'console-load': { name: 'The console under load', tool: 'vitest', with: configOf('console-load'), env: ofBuild },
  /** Runs a deployment behind PgBouncer, which has to be installed. */
  pgbouncer: { name: 'The tests with PgBouncer', tool: 'vitest', with: configOf('pgbouncer') },
  /** Sends the traces of a platform of its own to Arize Phoenix, which it installs from PyPI. */
  phoenix: { name: 'The tests with Phoenix', tool: 'vitest', with: configOf('phoenix') },
};
for (const [name, suite] of Object.entries(suites)) verbs[name] = () => runSuite(suite);

function parseTestArguments(args) {
  const options = { 'require-infra': { type: 'boolean' }, changed: { type: 'boolean' } };
  try {
    const parsed = parseArgs({ args, options, allowPositionals: true });
    if (parsed.positionals.length > (parsed.values.changed ? 1 : 0)) throw new Error(`unknown: ${parsed.positionals}`);
    return parsed;
  } catch (error) {
    throw new StepError(`npm test takes --require-infra and --changed [REF]: ${error.message}`);
  }
}

function configOf(folder) {
  return ['run', '--config', `e2e/${folder}/vitest.config.ts`];
}

async function runSuite({ name, tool, with: own, env }) {
  await prepare();
  process.exitCode = await run(name, installed(tool), [...own, ...args], { allowFailure: true, env });
}

function conclude({ passed, failed, skipped, failures }) {
  // Once more at the end: of a long log often the end alone is kept.
  for (const { name, reason } of failures) process.stdout.write(`\nfailed: ${name}\n${reason.replace(/^/gm, '  ')}`);
  if (skipped > 0) process.stdout.write(`\n${skipped} skipped`);
  const minutes = readProcessorMinutes();
  if (minutes)
    process.stdout.write(`\nProcessor time: ${minutes.user} minutes of programs, ${minutes.system} of the system`);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

try {
  if (!verbs[verb]) throw new StepError(`Usage: node infra/bootstrap.mjs ${Object.keys(verbs).join('|')}`);
  await verbs[verb]();
} catch (error) {
  process.stderr.write(`\n${error instanceof StepError ? error.message : error.stack}\n`);
  process.exitCode = 1;
}
