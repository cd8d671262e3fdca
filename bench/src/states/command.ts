import { parseArgs } from 'node:util';
import { readNumber, readNumbers } from '../number-flags.ts';
import { writeJson } from '../report/write-json.ts';
import { startAgentServer } from '../targets/agent-server.ts';
import { measureStates, type StateTimes } from './measure-states.ts';

/** Runs `npm run bench -- states`: prints how fast large states are written and read. */
export async function runStatesCommand(
  args: string[],
  { repository, project, say }: { repository: string; project: string; say: (line: string) => void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      mb: { type: 'string', default: '1,10,40' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'string' },
    },
  });
  const [sizes, rounds] = [readNumbers('mb', values.mb), readNumber('rounds', values.rounds)];
  const target = await startAgentServer({ repository, project });
  try {
    const times = await measureStates(target, { sizes, rounds, say });
    await writeJson(values.json, { times });
    process.stdout.write(`\n${formatTable(times)}\n`);
  } finally {
    await target.stop();
  }
}

function formatTable(times: StateTimes[]): string {
  const title = ['MB', 'what', 'seconds', 'MB/s', 'times JSON', 'processor'];
  const rows = times.map(({ megabytes, what, seconds, timesJson, cpuSeconds }) => [
    megabytes.toFixed(1),
    what,
    seconds.toFixed(2),
    (megabytes / seconds).toFixed(1),
    timesJson.toFixed(1),
    Object.values(cpuSeconds)
      .reduce((sum, each) => sum + each, 0)
      .toFixed(2),
  ]);
  return [title, ...rows]
    .map(([size = '', what = '', ...numbers]) =>
      [size.padStart(6), what.padEnd(24), ...numbers.map((text) => text.padStart(11))].join('  '),
    )
    .join('\n');
}
