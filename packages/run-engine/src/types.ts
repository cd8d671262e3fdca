/**
 * Types that the parts of the run engine share. Status words are those of the wire (`packages/contracts`); times are
 * `Date`s; JSON that only passes through stays text (`Uint8Array` of UTF-8), so that nothing on a run's path parses it.
 */

import type { RunUsage } from '@runyard/contracts';
import type { KeyedRequest } from '@runyard/idempotency';
import type pg from 'pg';

export type RunStatus = 'pending' | 'running' | 'error' | 'success' | 'timeout' | 'interrupted';
export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error';
export type MultitaskStrategy = 'reject' | 'interrupt' | 'rollback' | 'enqueue';
export type CancelAction = 'interrupt' | 'rollback';

/** A failure as clients see it: class name and sanitized message. */
export interface ErrorInfo {
  error: string;
  message: string;
}

/** The right to write one thread: stale as soon as another attempt, a cancel or a rollback has bumped the epoch. */
export interface Fence {
  threadId: string;
  epoch: bigint;
  runId: string | null;
}

/** A run that was deleted before its end: the caller has to notify its watchers. */
export interface DeletedRun {
  runId: string;
  attempt: number;
  /** The end can be published on the thread's stream under this fence. */
  fence: Fence;
}

/** A creation with an idempotency key: the transaction that creates also binds the key. */
export interface KeyedCreation<Made> {
  request: KeyedRequest;
  /** Returns the JSON value that is stored with the key, and returned to every further request with it. */
  answerOf(made: Made): unknown;
}

/** The creation of a thread with an idempotency key. */
export interface KeyedThread {
  request: KeyedRequest;
  /** Reads the value in the transaction that creates the thread. */
  answerOf(client: pg.ClientBase): Promise<unknown>;
}

/** A key that was claimed before the transaction that binds it, and the JSON value stored with it. */
export interface BoundKey {
  request: KeyedRequest;
  answer: unknown;
}

/** All that an attempt has used so far. */
export interface UsedRun {
  runId: string;
  threadId: string;
  assistantId: string;
  attempt: number;
  usage: RunUsage;
  /** Tokens since the last report of the attempt, where budgets count them. Default: none does. */
  tokens?: number;
}
