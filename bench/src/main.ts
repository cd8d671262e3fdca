import { writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { runDirectoryCommand } from './directory/command.ts';
import { type BenchFlags, readFlags, usage } from './flags.ts';
import { runHostCommand } from './host/command.ts';
import { runIdleCommand } from './idle/command.ts';
import { type Measurement, measure, warmUp } from './measurement.ts';
import { runPushCommand } from './push/command.ts';
import { formatTables } from './report/tables.ts';
import { runScaleCommand } from './scale/command.ts';
import { runStartCommand } from './start/command.ts';
import { runStatesCommand } from './states/command.ts';
import { startAgentServer } from './targets/agent-server.ts';
import { buildCommit } from './targets/built-commit.ts';
import { targetExistingDeployment } from './targets/existing-deployment.ts';
import { startPlatform } from './targets/platform.ts';
import { type BenchProject, prepareProject } from './targets/projects.ts';
import { targetPublicPythonServer } from './targets/public-python-server.ts';
import { targetPublicServer } from './targets/public-server.ts';
import type { Target } from './targets/target.ts';

const repository = resolve(import.meta.dirname, '../..');
const { folder: project } = await prepareProject('javascript');

/** Progress goes to standard error, so that `--json -` prints JSON alone. */
const say = (line: string) => process.stderr.write(`${line}\n`);

/** Measurements of one thing alone, by the first word of the command line. */
const commands: Record<string, (args: string[], where: Where) => Promise<void>> = {
  scale: runScaleCommand,
  directory: runDirectoryCommand,
  states: runStatesCommand,
  idle: runIdleCommand,
  start: runStartCommand,
  push: runPushCommand,
  host: runHostCommand,
};
type Where = { repository: string; project: string; say: (line: string) => void };

async function main(): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2);
  if (Object.hasOwn(commands, name)) {
    await commands[name]?.(args, { repository, project, say });
    return;
  }
  const flags = readFlags(process.argv.slice(2));
  if (flags.help) {
    process.stdout.write(usage);
    return;
  }
  const targets: Target[] = [];
  const stopAll = async () => {
    for (const target of targets.splice(0).reverse()) await target.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopAll().finally(() => process.exit(130)));
  }
  const { against: ref } = flags;
  const against = ref === undefined ? undefined : { ref, folder: await buildCommit(repository, ref, say) };
  try {
    for (const start of starters(flags, await prepareProject(flags.language), against)) {
      const target = await start();
      targets.push(target);
      say(`${target.name} is up at ${target.url}`);
    }
    const measurements = await measureAll(flags, targets);
    await report(flags, measurements);
    process.exitCode = measurements.some(({ failures }) => failures > 0) ? 1 : 0;
  } finally {
    await stopAll();
  }
}

function starters(
  { url, key, isDirectWanted, areUsersWanted, compare }: BenchFlags,
  { folder: project, environment, python }: BenchProject,
  against: { ref: string; folder: string } | undefined,
): (() => Promise<Target>)[] {
  // Users need encryption at rest: without it on both sides its cost would count as theirs.
  const env: Record<string, string> = {
    ...environment,
    ...(areUsersWanted && { LANGGRAPH_AES_KEY: 'measured-with-a-key-of-32-chars!' }),
  };
  const users = { LANGGRAPH_AUTH: JSON.stringify({ path: './auth.ts:auth' }) };
  const headers = { authorization: 'Bearer ada' };
  return [
    url === undefined
      ? () => startPlatform({ repository, project, env: environment, kafka: true })
      : async () => targetExistingDeployment(url, key),
    ...(isDirectWanted ? [() => startAgentServer({ repository, project, env })] : []),
    ...(areUsersWanted
      ? [() => startAgentServer({ repository, project, name: 'with users', env: { ...env, ...users }, headers })]
      : []),
    ...(against === undefined
      ? []
      : [
          () =>
            startPlatform({ repository: against.folder, project, env: environment, kafka: true, name: against.ref }),
        ]),
    ...(compare === undefined ? [] : [() => targetPublicServer({ folder: compare, project })]),
    ...(python === undefined ? [] : [() => targetPublicPythonServer(python, project)]),
  ];
}

async function measureAll(flags: BenchFlags, targets: Target[]): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  // The first measurement would be mostly about how a server compiles its code.
  for (const target of targets) await warmUp(target, Math.max(...flags.clients));
  for (let round = 1; round <= flags.rounds; round += 1) {
    for (const workload of flags.workloads) {
      for (const clients of flags.clients) {
        // Whoever is first in one round is last in the next.
        for (const target of round % 2 === 0 ? targets.toReversed() : targets) {
          const { seconds } = flags;
          const measured = await measure({ target, targets, workload, clients, seconds, round });
          measurements.push(measured);
          const { perSecond, p50Ms, p99Ms } = measured;
          const numbers = `${perSecond.toFixed(0)} per s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
          say(`${target.name}, ${workload}, ${clients} clients: ${numbers}`);
        }
      }
    }
  }
  return measurements;
}

async function report({ json, ...flags }: BenchFlags, measurements: Measurement[]): Promise<void> {
  const machine = { processors: availableParallelism(), node: process.version, platform: process.platform };
  // The load average is kept with the numbers: on a busy machine they say little.
  const document = { machine, loadAverage: loadavg()[0], flags: { ...flags, key: undefined }, measurements };
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (json === '-') {
    process.stdout.write(text);
    return;
  }
  if (json !== undefined) await writeFile(json, text);
  process.stdout.write(`\n${formatTables(measurements)}\n`);
}

main().catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
