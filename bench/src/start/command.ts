import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readNumber } from '../number-flags.ts';
import { readMemory } from '../observe/memory-by-process.ts';
import { writeJson } from '../report/write-json.ts';
import { startPlatform } from '../targets/platform.ts';
import { type BenchProject, type Language, prepareProject } from '../targets/projects.ts';
import { targetPublicPythonServer } from '../targets/public-python-server.ts';
import { targetPublicServer } from '../targets/public-server.ts';
import { type FirstAnswer, measureFirstAnswer, type StartedServer } from './first-answer.ts';
import { formatStarts, type Starts } from './table.ts';

/** Seconds after which V8 has collected the garbage of the start. */
const SETTLING_SECONDS = '300';

/**
 * Runs `npm run bench -- start`: prints how long the platform takes from its start to the answer of a first run, on a
 * new data folder and then again, with the processor time of that, and what memory its processes have once they have
 * come to rest. With `--compare DIR`, in whose `node_modules` the public in-memory server in JavaScript is, that one and
 * the one in Python take turns with it, and so does a platform with the project in Python.
 */
export async function runStartCommand(
  args: string[],
  { repository, say }: { repository: string; say: (line: string) => void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      settle: { type: 'string', default: SETTLING_SECONDS },
      compare: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const [rounds, settle] = [readNumber('rounds', values.rounds), readNumber('settle', values.settle)];
  const compare = values.compare && resolve(process.env.INIT_CWD ?? process.cwd(), values.compare);
  const folder = await mkdtemp(join(tmpdir(), 'runyard-bench-'));
  const running: FirstAnswer['target'][] = [];
  try {
    const servers = await listServers({ repository, folder, compare });
    const starts: Starts[] = servers.map(({ name }) => ({ name, answers: [], memory: new Map() }));
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        const others = running.map(({ rootPid }) => rootPid);
        const { target, ...answer } = await measureFirstAnswer(server, others);
        const figures = `${answer.seconds.toFixed(1)} s, ${answer.cpuSeconds.toFixed(1)} s of a processor`;
        say(`${server.name}, ${round === 0 ? 'first' : 'warm'} start: ${figures}`);
        starts[index]!.answers.push(answer);
        // They rest together after the last round.
        if (round === rounds) running.push(target);
        else await target.stop();
      }
    }
    say(`nothing is asked of them for ${settle} s`);
    await pause(settle * 1000);
    for (const [index, { rootPid }] of running.entries()) starts[index]!.memory = await readMemory(rootPid);
    await writeJson(values.json, {
      starts: starts.map(({ memory, ...start }) => ({ ...start, megabytes: Object.fromEntries(memory) })),
    });
    process.stdout.write(`\n${formatStarts(starts)}\n`);
  } finally {
    for (const target of running.reverse()) await target.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param where.folder is for the platforms' data */
async function listServers(where: {
  repository: string;
  folder: string;
  compare: string | undefined;
}): Promise<StartedServer[]> {
  const { repository, folder, compare } = where;
  const platform = (language: Language, { folder: project, environment: env }: BenchProject) => ({
    name: `runyard ${language}`,
    start: () => startPlatform({ repository, project, dataDir: join(folder, language), env, isSettled: false }),
  });
  const javascript = await prepareProject('javascript');
  if (compare === undefined) return [platform('javascript', javascript)];
  const python = await prepareProject('python');
  return [
    platform('javascript', javascript),
    { name: 'langgraph-api', start: () => targetPublicServer({ folder: compare, project: javascript.folder }) },
    platform('python', python),
    { name: 'langgraph dev', start: () => targetPublicPythonServer(python.python!, python.folder) },
  ];
}
