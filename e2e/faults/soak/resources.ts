import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { percentile } from '@runyard/test-kit';

/** What a process and those below it hold at one moment. */
export interface Holding {
  /** Monotonic milliseconds. */
  at: number;
  bytes: number;
  /** Files, sockets and pipes, as the system counts them. */
  descriptors: number;
}

/** Zero where the process is gone. */
export async function holdingOf(pid: number): Promise<Holding> {
  const each = await Promise.all((await withThoseBelow(pid)).map(holdingOfOne));
  return {
    at: performance.now(),
    bytes: each.reduce((sum, { bytes }) => sum + bytes, 0),
    descriptors: each.reduce((sum, { descriptors }) => sum + descriptors, 0),
  };
}

async function holdingOfOne(pid: number): Promise<{ bytes: number; descriptors: number }> {
  const [status, descriptors] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''),
    readdir(`/proc/${pid}/fd`).catch(() => []),
  ]);
  return { bytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024, descriptors: descriptors.length };
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

const PIECE_MS = 60_000;

/**
 * Megabytes per ten minutes by which the memory of a process grows: a line laid through the lowest tenth of each minute,
 * since what a garbage collector has not come to yet is not held. Theil–Sen: the median of the slopes between all pairs,
 * which a few odd minutes do not tilt.
 */
export function growth(samples: readonly Holding[]): number {
  const pieces = new Map<number, number[]>();
  for (const { at, bytes } of samples) {
    const piece = Math.floor(at / PIECE_MS);
    pieces.set(piece, [...(pieces.get(piece) ?? []), bytes]);
  }
  const points = [...pieces].map(([piece, bytes]) => ({ minute: piece, megabytes: percentile(bytes, 0.1) / 2 ** 20 }));
  const slopes = points.flatMap((a, index) =>
    points.slice(index + 1).map((b) => (b.megabytes - a.megabytes) / (b.minute - a.minute)),
  );
  return percentile(slopes, 0.5) * 10;
}
