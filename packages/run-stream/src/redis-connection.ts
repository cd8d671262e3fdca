import type { Socket } from 'node:net';
import { resetConnection, startRedisHeartbeat } from '@runyard/service-kit';
import { Redis } from 'ioredis';
import { StreamUnavailableError } from './errors.ts';

/**
 * Opens a connection that never lets a caller wait longer than the time limit: commands fail at once while it is down.
 * A ping detects an unresponsive peer (a network that drops packets gives no error), and the connection is replaced.
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
  // Losses show in the commands that fail; an error event without a listener would end the process.
  redis.on('error', () => undefined);
  startRedisHeartbeat(redis, { timeoutMs: options.timeoutMs });
  return redis;
}

/**
 * Runs a command, and throws the outage when Redis did not accept it. After a silence the connection is replaced: the
 * old one may stay silent long after the network has recovered, and its pending commands should not arrive late.
 */
export async function runCommand<T>(redis: Redis, command: () => Promise<T>, timeoutMs: number): Promise<T> {
  try {
    await waitUntilFirstReady(redis, timeoutMs);
    return await awaitAnswer(redis, command(), timeoutMs);
  } catch (error) {
    if (isCommandError(error)) throw error;
    if (error instanceof UnresponsiveError) resetConnection(redis);
    throw new StreamUnavailableError(error);
  }
}

/** Redis sent nothing within the time limit. */
class UnresponsiveError extends Error {}

/** Number of time limits after which an answer is given up, whatever else arrives in the meantime. */
const TIME_LIMITS_MAX = 5;
/** Milliseconds of delay of a timer that show that the process was busy. */
const LATE_TIMER_MS = 50;

/**
 * Returns the answer, or fails when Redis is silent for the time limit. A busy process may not have sent the command or
 * not have listened, and with much incoming data the answer is still in the queue. Neither is silence, and closing the
 * connection then would fail all commands that are about to be answered.
 */
async function awaitAnswer<T>(redis: Redis, answer: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const unresponsive = new Promise<never>((_, reject) => {
    let limits = 0;
    const wait = () => {
      const received = bytesReceived(redis);
      const startedAt = performance.now();
      const check = () => {
        limits += 1;
        const wasBusy = performance.now() - startedAt > timeoutMs + LATE_TIMER_MS;
        if (limits < TIME_LIMITS_MAX && (wasBusy || bytesReceived(redis) !== received)) wait();
        else reject(new UnresponsiveError(`no answer within ${timeoutMs} ms`));
      };
      // Data that has arrived is read between the timer and this callback.
      timer = setTimeout(() => setImmediate(check), timeoutMs);
    };
    wait();
  });
  try {
    return await Promise.race([answer, unresponsive]);
  } finally {
    clearTimeout(timer);
  }
}

function bytesReceived({ stream }: Redis): number {
  return (stream as Socket | undefined)?.bytesRead ?? 0;
}

/** Returns whether Redis answered with an error about the command, not about the connection. */
function isCommandError(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return false;
  // These errors mean "not now": starting, without its users yet, read-only replica after a failover, full.
  return !/^(LOADING|WRONGPASS|NOAUTH|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|BUSY)/.test(error.message);
}

const firstReady = new WeakMap<Redis, Promise<void>>();

/** Waits for the connection at the first command; later commands never wait for one. */
function waitUntilFirstReady(redis: Redis, timeoutMs: number): Promise<void> | undefined {
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
