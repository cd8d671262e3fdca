import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasEnoughSamples, isMet } from './bench/measure.ts';
import { runGoal } from './bench/run-goal.ts';
import { openSession, type Session } from './bench/session.ts';
import { goals } from './goals/index.ts';

/** Repeats the choices of a failed run. */
const seed = Number(process.env.RUNYARD_FAULTS_SEED ?? Math.floor(Math.random() * 1_000_000));

let session: Session;
beforeAll(async () => {
  session = await openSession();
});
afterAll(() => session.close());

for (const goal of goals.filter(({ isFast }) => isFast)) {
  test.concurrent(`${goal.id}: ${goal.title}`, async () => {
    const say = (line: string) => console.log(line);
    const outcome = await runGoal(goal, { servers: session.servers, tier: 'fast', seed, scale: 1, say });
    expect({
      seed,
      error: outcome.error,
      // Time limits assume an idle machine: the full tier judges them.
      notMet: outcome.measures.filter(
        (measure) => !hasEnoughSamples(measure) || (measure.unit !== 's' && !isMet(measure)),
      ),
    }).toEqual({ seed, error: undefined, notMet: [] });
  });
}
