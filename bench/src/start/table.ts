import { type FirstAnswer, SERVERS } from './first-answer.ts';

/** The starts of one server, the first one first, and what its processes have in memory when nothing is asked of it. */
export interface Starts {
  name: string;
  answers: Omit<FirstAnswer, 'target'>[];
  /** Megabytes by part. */
  memory: Map<string, number>;
}

/** The most that a warm start may take until it answers, in seconds, and all our processes, in megabytes. */
const GOALS = { seconds: 8, megabytes: 900 };
const WIDTH = 20;

/** Formats a column for each server, ours first, and the memory of our parts below. */
export function formatStarts(starts: Starts[]): string {
  const row = (name: string, values: string[], goal?: number) =>
    `${name.padEnd(44)}${values.map((value) => value.padStart(WIDTH)).join('')}${goal === undefined ? '' : `   goal: at most ${goal}`}`;
  const figures = starts.map(({ answers: [first, ...warm], memory }) => ({
    first: first?.seconds ?? 0,
    seconds: median(warm.map(({ seconds }) => seconds)),
    cpuSeconds: median(warm.map(({ cpuSeconds }) => cpuSeconds)),
    megabytes: countedOf(memory).reduce((sum, [, megabytes]) => sum + megabytes, 0),
  }));
  const column = (key: keyof (typeof figures)[number], digits: number) =>
    figures.map((figure) => figure[key].toFixed(digits));
  return [
    row(
      '',
      starts.map(({ name }) => name),
    ),
    row('first start to the first answer, seconds', column('first', 1)),
    row('warm start to the first answer, median', column('seconds', 1), GOALS.seconds),
    row('processor seconds of that, without servers', column('cpuSeconds', 1)),
    row('memory at rest, MB, without servers', column('megabytes', 0), GOALS.megabytes),
    ...countedOf(starts[0]?.memory ?? new Map()).map(([part, megabytes]) => row(`  ${part}`, [megabytes.toFixed(0)])),
  ].join('\n');
}

function countedOf(memory: Map<string, number>): [string, number][] {
  return [...memory].filter(([part]) => !SERVERS.includes(part)).sort(([, one], [, other]) => other - one);
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}
