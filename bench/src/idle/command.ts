import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readNumber } from '../number-flags.ts';
import { writeJson } from '../report/write-json.ts';
import { startAgentServer } from '../targets/agent-server.ts';
import { type IdleCost, measureIdleCost } from './idle-cost.ts';

/**
 * Seconds in which the processes come to rest. V8 collects the garbage of a start while a process idles, for minutes: in
 * the first one that is a third of what is measured.
 */
const SETTLING_SECONDS = '300';

/** Runs `npm run bench -- idle`: prints what a deployment costs that nobody uses. */
export async function runIdleCommand(
  args: string[],
  { repository, project, say }: { repository: string; project: string; say: (line: string) => void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '60' },
      settle: { type: 'string', default: SETTLING_SECONDS },
      json: { type: 'string' },
    },
  });
  const seconds = readNumber('seconds', values.seconds);
  const settle = readNumber('settle', values.settle);
  const target = await startAgentServer({ repository, project });
  try {
    say(`${target.name} is up at ${target.url}; nothing is asked of it for ${settle + seconds} s`);
    await pause(settle * 1000);
    const cost = await measureIdleCost(target, seconds);
    const percentOfCore = Object.fromEntries(cost.percentOfCore);
    const redisPerSecond = Object.fromEntries(cost.redisPerSecond);
    await writeJson(values.json, { cost: { ...cost, percentOfCore, redisPerSecond } });
    process.stdout.write(`\n${formatTable(cost)}\n`);
  } finally {
    await target.stop();
  }
}

function formatTable({ percentOfCore, transactionsPerSecond, redisPerSecond }: IdleCost): string {
  const row = (name: string, value: number) => `${name.padEnd(34)}${value.toFixed(2).padStart(8)}`;
  const byValue = (values: Map<string, number>) => [...values].sort(([, a], [, b]) => b - a);
  return [
    'percent of a core',
    ...byValue(percentOfCore).map(([part, percent]) => row(`  ${part}`, percent)),
    'per second',
    row('  database transactions', transactionsPerSecond),
    row(
      '  Redis commands',
      [...redisPerSecond.values()].reduce((sum, each) => sum + each, 0),
    ),
    ...byValue(redisPerSecond).map(([command, each]) => row(`    ${command}`, each)),
  ].join('\n');
}
