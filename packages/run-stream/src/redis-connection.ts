import type { Socket } from 'node:net';
import { keepAlive, resetConnection } from '@runyard/service-kit';
import { Redis } from 'ioredis';
import { StreamUnavailableError } from './errors.ts';

/**
 * A connection that never lets a caller wait longer than the time limit: commands fail at once while it is down, and a peer that
 * is silent (a network that swallows packets gives no error) is noticed by a ping and connected to anew.
 */
export function openConnection(url: string, options: { name: string; timeoutMs: number; pipelined: boolean }): Redis {
  const redis = new Redis(url, {
    connectionName: options.name,
    lazyConnect: true,
    enableOfflineQueue: false,
    enableAutoPipelining: options.pipelined,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: options.timeoutMs,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2_000) * (0.75 + Math.random() / 2),
  });
  // Losses show in the commands they fail; an error event without a listener would end the process.
  redis.on('error', () => undefined);
  keepAlive(redis, { timeoutMs: options.timeoutMs });
  return redis;
}

/**
 * Runs a command, naming the outage when Redis did not take it. After silence the connection is made anew: the old one may stay
 * silent long after the network has healed, and whatever it still carries should not arrive late.
 */
export async function bounded<T>(redis: Redis, command: () => Promise<T>, timeoutMs: number): Promise<T> {
  try {
    await whenFirstReady(redis, timeoutMs);
    return await answered(redis, command(), timeoutMs);
  } catch (error) {
    if (isRefusal(error)) throw error;
    if (error instanceof SilenceError) resetConnection(redis);
    throw new StreamUnavailableError(error);
  }
}

/** Nothing came from Redis for the time limit. */
class SilenceError extends Error {}

/** An answer that is late by so many time limits is given up, whatever else comes meanwhile. */
const LIMITS_MAX = 5;
/** A timer that is later than this says that the process was busy with itself. */
const LATE_MS = 50;

/**
 * The answer, unless Redis is silent for the time limit. A process that was busy with itself has not asked or not listened, and one
 * that is being sent a great deal has the answer in the queue: neither is silence, and cutting the connection then would fail all
 * that are about to be answered.
 */
async function answered<T>(redis: Redis, answer: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    let limits = 0;
    const wait = () => {
      const heard = bytesHeard(redis);
      const startedAt = performance.now();
      const look = () => {
        limits += 1;
        const wasBusy = performance.now() - startedAt > timeoutMs + LATE_MS;
        if (limits < LIMITS_MAX && (wasBusy || bytesHeard(redis) !== heard)) wait();
        else reject(new SilenceError(`no answer within ${timeoutMs} ms`));
      };
      // What has arrived is read between the timer and this.
      timer = setTimeout(() => setImmediate(look), timeoutMs);
    };
    wait();
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function bytesHeard({ stream }: Redis): number {
  return (stream as Socket | undefined)?.bytesRead ?? 0;
}

/** Redis answered, and the answer is an error: about the command, not the connection. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return false;
  // These answers mean "not now": starting, without its users yet, read-only replica after a failover, full.
  return !/^(LOADING|WRONGPASS|NOAUTH|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|BUSY)/.test(error.message);
}

const firstReady = new WeakMap<Redis, Promise<void>>();

/** The first command connects; later ones never wait for a connection. */
function whenFirstReady(redis: Redis, timeoutMs: number): Promise<void> | undefined {
  if (redis.status === 'ready') return undefined;
  let waiting = firstReady.get(redis);
  if (!waiting) {
    waiting = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no connection within ${timeoutMs} ms`)), timeoutMs);
      redis.once('ready', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    firstReady.set(redis, waiting);
    if (redis.status === 'wait') redis.connect().catch(() => undefined);
  }
  return waiting;
}
