import { Bench, type BenchOptions } from './bench.ts';
import type { Goal, Tier } from './goal.ts';
import { isMet, type Measure } from './measure.ts';
import type { Language } from './probe-project.ts';

/** The outcome of one goal. */
export interface Outcome {
  goal: string;
  seed: number;
  tier: Tier;
  language: Language;
  seconds: number;
  measures: Measure[];
  /** Settings of the services that the goal chose; all others have the shipped defaults. */
  settings: Record<string, string[]>;
  /** Why the goal could not be judged. */
  error?: string;
}

const LIMIT_MINUTES = 10;

/** Runs a goal. Never rejects: a goal that throws has not been met. */
export async function runGoal(goal: Goal, options: BenchOptions): Promise<Outcome> {
  const begun = performance.now();
  const bench = await Bench.open(options, goal.id);
  let error: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    const limitMinutes = goal.limitMinutes ?? LIMIT_MINUTES;
    const late = new Promise<never>((_, reject) => {
      const tell = () => reject(new Error(`the goal was not over after ${limitMinutes} minutes`));
      timer = setTimeout(tell, limitMinutes * 60_000);
    });
    await Promise.race([goal.run(bench).then(() => bench.measureStrangers()), late]);
    if (bench.measures.length === 0) throw new Error('nothing was measured');
  } catch (thrown) {
    error = describe(thrown);
  } finally {
    clearTimeout(timer);
    await bench.close();
  }
  return {
    goal: goal.id,
    seed: options.seed,
    tier: options.tier,
    language: bench.project.language,
    seconds: Math.round((performance.now() - begun) / 1000),
    measures: bench.measures,
    settings: bench.settings.all(),
    ...(error !== undefined && { error }),
  };
}

export function isGoalMet({ error, measures }: Outcome): boolean {
  return error === undefined && measures.every(isMet);
}

function describe(error: unknown): string {
  const { message, cause, stack } = error as Error;
  return [stack ?? message, ...(cause instanceof Error ? [`caused by ${cause.message}`] : [])].join('\n');
}
