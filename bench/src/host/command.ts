import { parseArgs } from 'node:util';
import { readNumber } from '../number-flags.ts';
import { writeJson } from '../report/write-json.ts';
import { prepareProject } from '../targets/projects.ts';
import { type HostMeasurement, measureHost } from './measure-host.ts';

const GOALS: Record<keyof HostMeasurement, { name: string; digits: number; goal: string }> = {
  readySeconds: { name: 'ready, seconds', digits: 2, goal: 'at most 3' },
  idleMegabytes: { name: 'memory when idle, MB', digits: 0, goal: 'at most 90' },
  eventsPerSecond: { name: 'events per second', digits: 0, goal: 'at least 20000' },
  blockedRunsPerSecond: { name: '30 runs that block for 200 ms, per second', digits: 0, goal: 'at least 100' },
};

/** Runs `npm run bench -- host`: prints what one process that runs graphs in Python is capable of. */
export async function runHostCommand(args: string[], { say }: { say: (line: string) => void }): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '3' }, json: { type: 'string' } },
  });
  const project = await prepareProject('python');
  const rounds: HostMeasurement[] = [];
  while (rounds.length < readNumber('rounds', values.rounds)) {
    rounds.push(await measureHost(project));
    say(`round ${rounds.length}: ${JSON.stringify(rounds.at(-1))}`);
  }
  await writeJson(values.json, { rounds });
  process.stdout.write(`\nthe middle of ${rounds.length} rounds\n${formatTable(rounds)}\n`);
}

function formatTable(rounds: HostMeasurement[]): string {
  const keys = Object.keys(GOALS) as (keyof HostMeasurement)[];
  return keys
    .map((key) => {
      const { name, digits, goal } = GOALS[key];
      const middle = rounds.map((round) => round[key]).sort((a, b) => a - b)[rounds.length >> 1] ?? 0;
      return `  ${name.padEnd(44)}${middle.toFixed(digits).padStart(8)}   goal: ${goal}`;
    })
    .join('\n');
}
