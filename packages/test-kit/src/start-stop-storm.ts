import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { HANGS_AFTER_MS } from './hang-limit.ts';
import { waitFor } from './wait-for.ts';

/** A part that works in the background of a service from its start to its stop. */
export interface BackgroundPart {
  name: string;
  /** Returns a new one, not started. */
  open(): { start(): unknown; stop(): unknown };
}

export interface StormOptions {
  rounds?: number;
  /** Starts of each round. */
  times?: number;
  /** Makes the choices. */
  random?: Random;
}

interface Random {
  /** Returns an integer; both bounds are included. */
  integer(from: number, to: number): number;
}

export interface StormResult {
  stops: number;
  /** Seconds of the longest stop. */
  seconds: number;
  /** Stops that did not end, unhandled rejections, and leaks. */
  faults: string[];
}

/** The most milliseconds that a started part is left alone. */
const ALIVE_MS = 4;
/** Connections that pools keep, and timers of others: leaks grow with each start. */
const SLACK = 8;

const UNSEEDED: Random = { integer: (from, to) => randomInt(from, to + 1) };

/**
 * Starts and stops a part many times in each round, some at once and each after a random moment, and checks what it
 * leaves in this process.
 */
export async function startStopStorm(
  part: BackgroundPart,
  { rounds = 10, times = 50, random = UNSEEDED }: StormOptions = {},
): Promise<StormResult> {
  const result: StormResult = { stops: 0, seconds: 0, faults: [] };
  const quiet = listenForFaults(part.name, result.faults);
  try {
    // The first starts open what is kept: pools, modules.
    await Promise.all([0, 0].map(() => startAndStop(part, result, random)));
    const before = await resources();
    for (let round = 0; round < rounds && result.faults.length === 0; round += 1) {
      const lanes = random.integer(1, 5);
      for (let done = 0; done < times; done += lanes) {
        const atOnce = Array.from({ length: Math.min(lanes, times - done) }, () => startAndStop(part, result, random));
        await Promise.all(atOnce);
      }
    }
    result.faults.push(...(await leftOver(part.name, before)));
  } finally {
    quiet();
  }
  return result;
}

async function startAndStop(part: BackgroundPart, result: StormResult, random: Random): Promise<void> {
  const aliveMs = random.integer(0, ALIVE_MS);
  const opened = part.open();
  await opened.start();
  if (aliveMs > 0) await pause(aliveMs);
  const begun = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), HANGS_AFTER_MS);
  });
  const outcome = await Promise.race([(async () => opened.stop())(), late]);
  clearTimeout(timer);
  if (outcome === 'late') result.faults.push(`${part.name} did not stop within ${HANGS_AFTER_MS} ms`);
  result.stops += 1;
  result.seconds = Math.max(result.seconds, (performance.now() - begun) / 1000);
}

/** Listens for unhandled rejections. Returns a function that ends this and restores the other listeners. */
function listenForFaults(name: string, faults: string[]): () => void {
  const others = process.listeners('unhandledRejection');
  const onRejection = (error: unknown) => void faults.push(`${name}: nobody heard of ${(error as Error)?.stack}`);
  const onWarning = (warning: Error) => void faults.push(`${name}: ${warning.message}`);
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', onRejection).on('warning', onWarning);
  return () => {
    process.off('unhandledRejection', onRejection).off('warning', onWarning);
    for (const other of others) process.on('unhandledRejection', other);
  };
}

type Counts = Record<string, number>;

/** Counts open files and sockets, and what keeps the event loop alive, by kind. */
async function resources(): Promise<Counts> {
  const counts: Counts = { 'open files': (await readdir('/dev/fd')).length };
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

async function leftOver(name: string, before: Counts): Promise<string[]> {
  let found: string[] = [];
  const look = async () => {
    const now = await resources();
    found = Object.entries(now)
      .filter(([kind, count]) => count > (before[kind] ?? 0) + SLACK)
      .map(([kind, count]) => `${name} leaves ${count - (before[kind] ?? 0)} of ${kind}`);
    return found.length === 0;
  };
  // Sockets take a moment to close.
  await waitFor(look, { intervalMs: 50, what: 'nothing to be left' }).catch(() => undefined);
  return found;
}
