import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readNumber } from '../number-flags.ts';
import { readMemory } from '../observe/memory-by-process.ts';
import { writeJson } from '../report/write-json.ts';
import { startPlatform } from '../targets/platform.ts';

/** Parts that are not ours: what they need is decided by their makers. */
const SERVERS = ['postgres', 'redis', 'kafka'];
/** The most that a warm start may take, in seconds, and all our processes, in megabytes. */
const GOALS = { warmSeconds: 8, megabytes: 900 };
/** Seconds after which V8 has collected the garbage of the start. */
const SETTLING_SECONDS = '300';

/**
 * Runs `npm run bench -- start`: prints how long the platform takes to start, first on a new data folder and then again,
 * and what memory its processes have once they have come to rest.
 */
export async function runStartCommand(
  args: string[],
  { repository, project, say }: { repository: string; project: string; say: (line: string) => void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      settle: { type: 'string', default: SETTLING_SECONDS },
      json: { type: 'string' },
    },
  });
  const [rounds, settle] = [readNumber('rounds', values.rounds), readNumber('settle', values.settle)];
  const dataDir = await mkdtemp(join(tmpdir(), 'runyard-bench-'));
  const starts: number[] = [];
  let memory = new Map<string, number>();
  try {
    for (let start = 0; start <= rounds; start += 1) {
      const platform = await startPlatform({ repository, project, dataDir });
      try {
        say(`${start === 0 ? 'first' : 'warm'} start: ${platform.startSeconds.toFixed(1)} s`);
        starts.push(platform.startSeconds);
        if (start < rounds) continue;
        say(`nothing is asked of it for ${settle} s`);
        await pause(settle * 1000);
        memory = await readMemory(platform.rootPid);
      } finally {
        await platform.stop();
      }
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
  const [first = 0, ...warm] = starts;
  await writeJson(values.json, { firstSeconds: first, warmSeconds: warm, megabytes: Object.fromEntries(memory) });
  process.stdout.write(`\n${formatTable(first, warm, memory)}\n`);
}

function formatTable(first: number, warm: number[], memory: Map<string, number>): string {
  const row = (name: string, value: number, digits: number, goal?: number) =>
    `${name.padEnd(34)}${value.toFixed(digits).padStart(8)}${goal === undefined ? '' : `   goal: at most ${goal}`}`;
  const ours = [...memory].filter(([part]) => !SERVERS.includes(part)).sort(([, a], [, b]) => b - a);
  return [
    row('first start, seconds', first, 1),
    row('warm start, seconds, the median', warm.toSorted((a, b) => a - b)[warm.length >> 1] ?? 0, 1, GOALS.warmSeconds),
    row(
      'memory of our processes, MB',
      ours.reduce((sum, [, megabytes]) => sum + megabytes, 0),
      0,
      GOALS.megabytes,
    ),
    ...ours.map(([part, megabytes]) => row(`  ${part}`, megabytes, 0)),
  ].join('\n');
}
