import { afterAll, beforeAll, test } from 'vitest';
import { isOfTier } from './bench/goal.ts';
import { hasEnoughSamples, isMet } from './bench/measure.ts';
import { LANGUAGES } from './bench/probe-project.ts';
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

const cases = LANGUAGES.flatMap((language) =>
  goals.filter((goal) => isOfTier(goal, 'fast', language)).map((goal) => ({ goal, language })),
);

for (const { goal, language } of cases) {
  test.concurrent(`${goal.id}, graphs in ${language}: ${goal.title}`, async () => {
    const say = (line: string) => console.log(line);
    const outcome = await runGoal(goal, { servers: session.servers, tier: 'fast', seed, scale: 1, language, say });
    const notMet = outcome.measures
      // Time limits assume an idle machine: the full tier judges them.
      .filter((measure) => !hasEnoughSamples(measure) || (measure.unit !== 's' && !isMet(measure)))
      .map(
        ({ what, measured, limit, samples, needed = 1 }) =>
          `${what}: ${measured}, limit ${limit}, of ${samples} samples, needed ${needed}`,
      );
    const problems = outcome.error === undefined ? notMet : [outcome.error, ...notMet];
    if (problems.length > 0) throw new Error(`not met with RUNYARD_FAULTS_SEED=${seed}: ${problems.join('; ')}`);
  });
}
