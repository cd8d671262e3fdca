import { readdirSync, readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

/** Setup file of vitest: leaves with each test file the processor time that it took (see `ProcessorTimeReporter`). */
const begun = processorSeconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest accepts no other form of a first argument that is not used.
afterAll(({}, suite) => {
  suite.file.meta.processorSeconds = processorSeconds() - begun;
});

/**
 * Returns the processor time, in seconds, of this process and of all below it: those that have ended, and those that it
 * keeps for the next file. Where there is no `/proc`, of this process alone.
 */
function processorSeconds(): number {
  try {
    return ticksOf('self') / 100;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

/** Returns the hundredths of a second that a process and all below it took. */
function ticksOf(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Numbers 14 to 17 of proc(5): utime, stime, and cutime and cstime of children that have ended.
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  return childrenOf(pid).reduce((sum, child) => sum + ticksOfRunning(child), own);
}

function childrenOf(pid: string): string[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) => textOf(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean));
}

/** Returns nothing for what has just ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function ticksOfRunning(pid: string): number {
  try {
    return ticksOf(pid);
  } catch {
    return 0; // It has just ended.
  }
}

declare module 'vitest' {
  interface TaskMeta {
    processorSeconds?: number;
  }
}
