import { availableParallelism } from 'node:os';
import { builtRelease, releaseBefore } from '../compatibility/release.ts';
import { isMet } from './bench/measure.ts';
import { isReached, type Outcome, runGoal } from './bench/run-goal.ts';
import { commitUnderTest, openSession } from './bench/session.ts';
import { readFlags, usage } from './flags.ts';
import { goals } from './goals/index.ts';
import { record } from './report/results.ts';
import { writeReport } from './report/write-report.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2), goals);
  if (flags.help) {
    say(usage);
    return;
  }
  if (flags.isReportOnly) {
    await writeReport(goals);
    return;
  }
  const { seed, tier, scale } = flags;
  const commit = commitUnderTest();
  say(`Seed ${seed}, ${tier} tier, commit ${commit}, ${availableParallelism()} cores`);
  const release = flags.goals.some(({ id }) => id === 'R17') ? releaseBefore(flags.previous) : undefined;
  const previous = release && (await builtRelease(release, say));
  const session = await openSession();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void session.close().finally(() => process.exit(130)));
  }
  process.once('unhandledRejection', (error) => {
    say(`The bench itself failed: ${(error as Error).stack}`);
    void session.close().finally(() => process.exit(1));
  });
  const outcomes: Outcome[] = [];
  try {
    for (const goal of flags.goals) {
      say(`\n${goal.id}: ${goal.title}`);
      const outcome = await runGoal(goal, { servers: session.servers, tier, seed, scale, previous, say });
      outcomes.push(outcome);
      show(outcome);
      if (flags.isRecorded) {
        await record({ ...outcome, commit, measuredAt: new Date().toISOString().slice(0, 10) });
        await writeReport(goals);
      }
    }
  } finally {
    await session.close();
  }
  const reached = outcomes.filter(isReached).length;
  const failed = outcomes.length - reached;
  if (failed > 0)
    say(
      `\nAgain with: npm run test:faults -- --seed ${seed} --only ${outcomes
        .filter((each) => !isReached(each))
        .map(({ goal }) => goal)
        .join(',')}`,
    );
  say(`\n${reached} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function show(outcome: Outcome): void {
  for (const measure of outcome.measures) {
    const { what, measured, limit, unit, samples, atLeast } = measure;
    const sign = atLeast ? '≥' : '≤';
    say(
      `  ${isMet(measure) ? 'met   ' : 'NOT MET'} ${what}: ${round(measured)} ${unit} (${sign} ${limit}, of ${samples})`,
    );
  }
  if (outcome.error) say(`  FAILED: ${outcome.error}`);
  say(`  ${outcome.seconds} s`);
}

const round = (value: number) => Math.round(value * 100) / 100;

await main().catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
