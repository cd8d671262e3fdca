import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError, ClientDisconnectedError, TooManyRequestsError, UnavailableError } from '@runyard/service-kit';
import type { Continuation } from './answer-relay.ts';
import { type ForwardOptions, sendToUpstream } from './forward.ts';
import { ContinuationRefusedError } from './upstream-error.ts';

/** The request for a continuation: its upstreams and its headers. */
export type ContinuationRequest = Omit<ForwardOptions, 'body' | 'target'>;

/** Milliseconds in which the continuation is looked for. */
const CONTINUATION_TIMEOUT_MS = 30_000;
const PAUSE_MS = { first: 50, longest: 1_000 };

/**
 * Gets the rest of an answer from other processes of the deployment, however often it is handed off, and appends it to
 * what the client has. Rejects when nobody has it.
 *
 * @param plan is called before each try: the caller may have lost its right, and upstreams come and go
 */
export async function continueAnswer(
  res: ServerResponse,
  first: Continuation,
  plan: (continuation: Continuation) => Promise<ContinuationRequest>,
): Promise<void> {
  for (let next: Continuation | undefined = first; next; ) next = await fetchContinuation(res, next, plan);
}

async function fetchContinuation(
  res: ServerResponse,
  continuation: Continuation,
  plan: (continuation: Continuation) => Promise<ContinuationRequest>,
): Promise<Continuation | undefined> {
  const giveUpAt = performance.now() + CONTINUATION_TIMEOUT_MS;
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 1.5, PAUSE_MS.longest)) {
    try {
      return await tryUpstreams(res, continuation, await plan(continuation));
    } catch (error) {
      if (res.destroyed) throw new ClientDisconnectedError(error);
      if (isRefusal(error) || performance.now() > giveUpAt) throw error;
    }
    await pause(pauseMs);
  }
}

async function tryUpstreams(
  res: ServerResponse,
  { path }: Continuation,
  plan: ContinuationRequest,
): Promise<Continuation | undefined> {
  let failure: unknown = new UnavailableError('No process of the deployment can be reached', {
    code: 'answer_not_continued',
  });
  for (const upstream of plan.upstreams) {
    try {
      return await sendToUpstream(res, upstream, {
        ...plan,
        target: path,
        method: 'GET',
        body: { kind: 'none' },
        hasAlternative: true,
        isContinuing: true,
      });
    } catch (error) {
      failure = error;
      if (res.destroyed) break;
    }
  }
  throw failure;
}

/** Returns whether trying again would change nothing. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ContinuationRefusedError) return error.isFinal;
  return error instanceof AppError && !(error instanceof UnavailableError) && !(error instanceof TooManyRequestsError);
}
