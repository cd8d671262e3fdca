import { readdirSync, readFileSync } from 'node:fs';
import { BuildError } from '@runyard/deployments';

export interface ProcessLimits {
  /** Bytes of memory of all processes together. */
  memoryBytes: number;
  /** Processes at once. */
  processes: number;
}

const LOOK_MS = 250;
const PAGE_BYTES = 4096;
/** Matches the state, the parent and, 20 fields later, the start of a process in its `stat`, behind its name. */
const STAT = /\) (\S) (\d+) (?:\S+ ){17}(\d+) /;

/**
 * Watches the processes of one build: those that it starts, and what they start. What was seen once is watched on when
 * its parent has ended. On systems without `/proc/<pid>/task/<tid>/children` it sees the first ones alone.
 *
 * A look reads three small files of each process of the build, and none of others. They are in memory: reading them at
 * once takes some 50 µs a process, and ten times as much processor time where each waits for a thread.
 */
export class ProcessWatch {
  readonly #limits: ProcessLimits;
  readonly #onExceeded: (error: BuildError) => void;
  /** Processes by id, with the time of their start: ids are used again. */
  readonly #seen = new Map<number, string>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param onExceeded has to end the build */
  constructor(limits: ProcessLimits, onExceeded: (error: BuildError) => void) {
    this.#limits = limits;
    this.#onExceeded = onExceeded;
  }

  /** Watches a process that was just started, and its descendants. */
  add(pid: number): void {
    const process = readProcess(pid);
    if (process) this.#seen.set(pid, process.startedAt);
    if (!this.#timer && !this.#isStopped) this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => {
      this.#look();
      if (!this.#isStopped) this.#lookLater();
    }, LOOK_MS);
  }

  #look(): void {
    const { memoryBytes, processes } = this.#limits;
    const waiting = [...this.#seen.keys()];
    let bytes = 0;
    for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
      const process = readProcess(pid);
      const known = this.#seen.get(pid);
      if (!process || (known !== undefined && known !== process.startedAt)) {
        this.#seen.delete(pid);
        continue;
      }
      this.#seen.set(pid, process.startedAt);
      bytes += process.bytes;
      if (bytes > memoryBytes) this.#end(`The build needs more than ${memoryBytes} bytes of memory`);
      else if (this.#seen.size > processes) this.#end(`The build has more than ${processes} processes at once`);
      if (this.#isStopped) return;
      for (const child of childrenOf(pid)) if (!this.#seen.has(child)) waiting.push(child);
    }
  }

  #end(reason: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#onExceeded(new BuildError(reason));
  }
}

/** Returns null for a process that has ended. */
function readProcess(pid: number): { startedAt: string; bytes: number } | null {
  const [, state, , startedAt] = STAT.exec(readText(`/proc/${pid}/stat`)) ?? [];
  if (startedAt === undefined || state === 'Z' || state === 'X') return null;
  return { startedAt, bytes: Number(readText(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * PAGE_BYTES };
}

function childrenOf(pid: number): number[] {
  const lists = threadsOf(pid).map((thread) => readText(`/proc/${pid}/task/${thread}/children`));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // It has ended.
  }
}

/** Returns an empty text for a file that is not there (any more). */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
