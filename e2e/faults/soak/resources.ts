import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { percentile } from '@runyard/test-kit';
import { InspectedProcess } from './inspected-process.ts';

/** The resources of a process and those below it at one moment, after garbage collection. */
export interface ResourceSample {
  /** Monotonic milliseconds. */
  at: number;
  /** Bytes of live objects and buffers in the Node processes among them. */
  liveBytes: number;
  /** Resident memory of all of them, as the system counts it. */
  residentBytes: number;
  /** Files, sockets and pipes, as the system counts them. */
  descriptors: number;
  /** The number of timers that are set. */
  timers: number;
}

/** Samples a process and those below it, of which the Node processes run with `INSPECTABLE`, on request. */
export class ResourceSampler {
  readonly #pid: number;
  readonly #inspected = new Map<number, InspectedProcess>();

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Returns what they hold. A process that ends meanwhile holds nothing. */
  async look(): Promise<ResourceSample> {
    const holding: ResourceSample = {
      at: performance.now(),
      liveBytes: 0,
      residentBytes: 0,
      descriptors: 0,
      timers: 0,
    };
    for (const pid of await withThoseBelow(this.#pid)) {
      const its = await this.#lookInto(pid).catch((error: Error) => {
        if (isThere(pid)) throw error;
      });
      if (!its) continue;
      for (const kind of ['liveBytes', 'residentBytes', 'descriptors', 'timers'] as const) holding[kind] += its[kind];
    }
    return holding;
  }

  close(): void {
    for (const each of this.#inspected.values()) each.close();
  }

  async #lookInto(pid: number): Promise<Omit<ResourceSample, 'at'>> {
    const isNode = (await readlink(`/proc/${pid}/exe`)) === process.execPath;
    const { liveBytes, timers } = isNode ? await (await this.#inspect(pid)).held() : { liveBytes: 0, timers: 0 };
    const [status, descriptors] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      readdir(`/proc/${pid}/fd`),
    ]);
    const residentBytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    return { liveBytes, timers, residentBytes, descriptors: descriptors.length };
  }

  async #inspect(pid: number): Promise<InspectedProcess> {
    const known = this.#inspected.get(pid) ?? (await InspectedProcess.attach(pid));
    this.#inspected.set(pid, known);
    return known;
  }
}

async function withThoseBelow(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=']);
  const processes = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = [pid];
  for (const parent of found) {
    for (const [child, its] of processes) if (its === parent && child !== undefined) found.push(child);
  }
  return found;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const TEN_MINUTES_MS = 600_000;
const MEGABYTE = 2 ** 20;

/**
 * Returns the megabytes per ten minutes by which something grows, by Theil and Sen: the median of the slopes between
 * all pairs of samples, which a few odd ones do not tilt.
 */
export function growthPerTenMinutes(looks: readonly { at: number; bytes: number }[]): number {
  const slopes = looks.flatMap((a, index) =>
    looks.slice(index + 1).map((b) => (b.bytes - a.bytes) / MEGABYTE / ((b.at - a.at) / TEN_MINUTES_MS)),
  );
  return percentile(slopes, 0.5);
}
