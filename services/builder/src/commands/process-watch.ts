import { readdirSync, readFileSync } from 'node:fs';
import { BuildError, isOfUser } from '@runyard/deployments';

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
 * Watches the processes of one build: those that it starts, and what they start. Whoever loses its parent becomes a
 * child of an ancestor of this service, and is found there by its user; without a user it is watched on if it was seen
 * before. On systems without `/proc/<pid>/task/<tid>/children` it sees the first ones alone.
 *
 * A look reads three small files of each process of the build, and one of each child of this service's ancestors. They
 * are in memory: reading them at once takes some 50 µs a process, and ten times as much processor time where each waits
 * for a thread.
 */
export class ProcessWatch {
  readonly #limits: ProcessLimits;
  /** The id of the build's user; null when it is this service's. */
  readonly #uid: number | null;
  readonly #onExceeded: (error: BuildError) => void;
  /** Processes by id, with the time of their start: ids are used again. */
  readonly #seen = new Map<number, string>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param onExceeded has to end the build */
  constructor(limits: ProcessLimits, uid: number | null, onExceeded: (error: BuildError) => void) {
    this.#limits = limits;
    this.#uid = uid;
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
    const waiting = [...this.#seen.keys(), ...this.#findOrphans()];
    const looked = new Set<number>();
    let bytes = 0;
    let count = 0;
    for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
      if (looked.has(pid)) continue;
      looked.add(pid);
      const process = readProcess(pid);
      const known = this.#seen.get(pid);
      if (!process || (known !== undefined && known !== process.startedAt)) {
        this.#seen.delete(pid);
        continue;
      }
      this.#seen.set(pid, process.startedAt);
      bytes += process.bytes;
      count += 1;
      if (bytes > memoryBytes) this.#end(`The build needs more than ${memoryBytes} bytes of memory`);
      else if (count > processes) this.#end(`The build has more than ${processes} processes at once`);
      if (this.#isStopped) return;
      for (const child of childrenOf(pid)) waiting.push(child);
    }
  }

  /** Returns the processes of the build's user whose parent has ended. */
  #findOrphans(): number[] {
    const uid = this.#uid;
    if (uid === null) return [];
    return ancestors()
      .flatMap(childrenOf)
      .filter((pid) => isOfUser(readText(`/proc/${pid}/status`), uid));
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

/** Returns this process and its ancestors, up to the first process of the system. */
function ancestors(): number[] {
  const found = [process.pid];
  for (let pid = process.ppid; pid > 0; ) {
    found.push(pid);
    pid = Number(STAT.exec(readText(`/proc/${pid}/stat`))?.[2] ?? 0);
  }
  return found;
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
