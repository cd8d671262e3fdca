import { parseArgs } from 'node:util';
import { printLine, printSummary, runGoals } from './run-goals.ts';
import { createSoakGoal, PROMISED } from './soak/soak-goal.ts';

const usage = `npm run test:soak -- [options]

  --minutes 60   how long
  --rps 20       runs asked for in a second
  --seed N       choices that come out the same again (default: a new one, printed)
  --record       keep the results in e2e/faults/results and write docs/reliability.md
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: String(PROMISED.minutes) },
      rps: { type: 'string', default: String(PROMISED.rps) },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      record: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return void printLine(usage);
  const [minutes, rps, seed] = [values.minutes, values.rps, values.seed].map(Number) as [number, number, number];
  if (!(minutes > 0 && rps > 0 && Number.isInteger(seed)))
    throw new Error(`These are not numbers above 0.\n\n${usage}`);
  const goals = [createSoakGoal({ minutes, rps })];
  const options = { tier: 'full' as const, scale: 1, previous: undefined, isRecorded: values.record };
  const outcomes = await runGoals({ goals, seed, ...options });
  printSummary(outcomes, () => `npm run test:soak -- --minutes ${minutes} --rps ${rps} --seed ${seed}`);
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
