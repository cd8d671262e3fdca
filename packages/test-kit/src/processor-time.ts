import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

/** Setup file of vitest: leaves with each test file the processor time that it took (see `ProcessorTimeReporter`). */
const begun = processorSeconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest accepts no other form of a first argument that is not used.
afterAll(({}, suite) => {
  suite.file.meta.processorSeconds = processorSeconds() - begun;
});

/**
 * Returns the processor time, in seconds, of this process and of all below it that have ended: a file stops at its end
 * what it started. Where there is no `/proc`, of this process alone.
 */
function processorSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Numbers 14 to 17 of proc(5), in hundredths of a second: utime, stime, cutime and cstime.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

declare module 'vitest' {
  interface TaskMeta {
    processorSeconds?: number;
  }
}
