import { readdir, readFile } from 'node:fs/promises';

/**
 * Processor time so far, in milliseconds, of the parts of the platform, which are recognized by their command lines.
 */
export type CpuTimes = Map<string, number>;

const PARTS: [pattern: RegExp, name: string][] = [
  [/(?:services|infra)\/((?!launcher)[\w-]+)\/dist\/main/, '$1'],
  [/graph-host-child|runyard_graph_host/, 'graph host'],
  [/langgraph-api/, 'langgraph-api'],
  [/langgraph_cli/, 'langgraph dev'],
  [/postgres/, 'postgres'],
  [/(redis|valkey)-server/, 'redis'],
  [/kafka\.Kafka/, 'kafka'],
];

/**
 * Milliseconds of a clock tick, in which Linux counts processor time: it is the same on every machine that Node runs
 * on.
 */
const TICK_MS = 10;
const ownPid = process.pid;

/**
 * Returns the processor time of all processes below one, itself included, without those below any of the others and
 * without this process. Linux only: elsewhere it is empty, which leaves the profile out of the report.
 */
export async function readCpuTimes(rootPid: number, otherRootPids: number[]): Promise<CpuTimes> {
  const times: CpuTimes = new Map();
  for (const { part, cpuMs } of await listProcesses(rootPid, otherRootPids)) {
    times.set(part, (times.get(part) ?? 0) + cpuMs);
  }
  return times;
}

export interface ObservedProcess {
  pid: number;
  parent: number;
  part: string;
  /** Processor time so far. */
  cpuMs: number;
}

/** Lists all processes below one, itself included, without those below any of the others and without this process. */
export async function listProcesses(rootPid: number, otherRootPids: number[] = []): Promise<ObservedProcess[]> {
  const processes = await Promise.all((await pids()).map(inspect));
  const known = new Map(processes.flatMap((process) => (process ? [[process.pid, process] as const] : [])));
  const isBelow = (pid: number): boolean => {
    const process = known.get(pid);
    if (process === undefined || otherRootPids.includes(pid)) return false;
    return pid === rootPid || isBelow(process.parent);
  };
  return [...known.values()].filter(({ pid }) => pid !== ownPid && isBelow(pid));
}

async function pids(): Promise<number[]> {
  try {
    return (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

async function inspect(pid: number): Promise<ObservedProcess | undefined> {
  try {
    const [stat, commandLine] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ]);
    // The name in parentheses may contain anything, so fields are counted behind it: state, parent, …, utime, stime,
    // cutime, cstime. The last two are of children that have ended, such as Postgres' backends.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const cpuMs = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
    return { pid, parent: Number(fields[1]), part: partOf(commandLine.replaceAll('\0', ' ')), cpuMs };
  } catch {
    // The process has ended meanwhile.
    return undefined;
  }
}

function partOf(commandLine: string): string {
  for (const [pattern, name] of PARTS) {
    const match = pattern.exec(commandLine);
    if (match) return name.replace('$1', match[1] ?? '');
  }
  return 'launcher';
}
