import { availableParallelism } from 'node:os';
import { buildRelease, findPreviousRelease } from '../compatibility/release.ts';
import type { Goal, Tier } from './bench/goal.ts';
import { hasEnoughSamples, isMet } from './bench/measure.ts';
import type { Language } from './bench/probe-project.ts';
import { isGoalMet, type Outcome, runGoal } from './bench/run-goal.ts';
import { openSession, readCommitUnderTest } from './bench/session.ts';
import { recordOutcome } from './report/results.ts';
import { writeReport } from './report/write-report.ts';

export interface RunGoalsOptions {
  goals: readonly Goal[];
  tier: Tier;
  seed: number;
  scale: number;
  /** The git ref of the release before this one. */
  previous: string | undefined;
  /** True when the projects' own code knows the users who make the requests. */
  hasUsers?: boolean;
  /** The language of the probe graphs. Default: JavaScript. */
  language?: Language;
  /** True when the results are kept in the repository. */
  isRecorded: boolean;
}

export const printLine = (line: string) => process.stdout.write(`${line}\n`);

/** Runs goals one after another on servers of their own, and prints the outcome of each. */
export async function runGoals({ goals, tier, seed, scale, ...options }: RunGoalsOptions): Promise<Outcome[]> {
  const commit = readCommitUnderTest();
  printLine(`Seed ${seed}, ${tier} tier, commit ${commit}, ${availableParallelism()} cores`);
  const release = goals.some(({ needsPrevious }) => needsPrevious) ? findPreviousRelease(options.previous) : undefined;
  const previous = release && (await buildRelease(release, printLine));
  const session = await openSession();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void session.close().finally(() => process.exit(130)));
  }
  process.once('unhandledRejection', (error) => {
    printLine(`The bench itself failed: ${(error as Error).stack}`);
    void session.close().finally(() => process.exit(1));
  });
  const outcomes: Outcome[] = [];
  try {
    for (const goal of goals) {
      printLine(`\n${goal.id}: ${goal.title}`);
      if (goal.needsPrevious && previous === undefined) {
        printLine('  LEFT OUT: no release before this one is known; --previous names one.');
        continue;
      }
      const { hasUsers = false, language = 'javascript' } = options;
      const settings = { tier, seed, scale, previous, hasUsers, language };
      const outcome = await runGoal(goal, { servers: session.servers, ...settings, say: printLine });
      outcomes.push(outcome);
      show(outcome);
      if (options.isRecorded) {
        await recordOutcome({ ...outcome, commit, measuredAt: new Date().toISOString().slice(0, 10) });
        await writeReport();
      }
    }
  } finally {
    await session.close();
  }
  const failed = outcomes.filter((outcome) => !isGoalMet(outcome)).length;
  process.exitCode = failed === 0 ? 0 : 1;
  return outcomes;
}

/** Prints the last lines: how to repeat goals that were not met, and how many there are of both kinds. */
export function printSummary(outcomes: readonly Outcome[], again: (goals: string[]) => string): void {
  const failed = outcomes.filter((outcome) => !isGoalMet(outcome)).map(({ goal }) => goal);
  if (failed.length > 0) printLine(`\nAgain with: ${again(failed)}`);
  printLine(`\n${outcomes.length - failed.length} passed, ${failed.length} failed`);
}

function show(outcome: Outcome): void {
  for (const measure of outcome.measures) {
    const { what, measured, limit, unit, samples, needed, atLeast } = measure;
    const sign = atLeast ? '≥' : '≤';
    const from = hasEnoughSamples(measure) ? `of ${samples}` : `of ${samples}, too few: ${needed ?? 1} are needed`;
    printLine(
      `  ${isMet(measure) ? 'met   ' : 'NOT MET'} ${what}: ${round(measured)} ${unit} (${sign} ${limit}, ${from})`,
    );
  }
  if (outcome.error) printLine(`  FAILED: ${outcome.error}`);
  printLine(`  ${outcome.seconds} s`);
}

const round = (value: number) => Math.round(value * 100) / 100;
