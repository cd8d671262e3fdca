import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError, ClientGoneError, TooManyRequestsError, UnavailableError } from '@runyard/service-kit';
import type { Handover } from './answer-relay.ts';
import { exchange, type Forwarding } from './forward.ts';
import { NotContinuedError } from './upstream-error.ts';

/** The request for a continuation: its upstreams and its headers. */
export type Continuation = Omit<Forwarding, 'body' | 'target'>;

/** Milliseconds in which the continuation is looked for. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = { first: 50, longest: 1_000 };

/**
 * Gets the rest of an answer from other processes of the deployment, however often it is handed off, and appends it to
 * what the client has. Rejects when nobody has it.
 *
 * @param plan is called before each try: the caller may have lost its right, and upstreams come and go
 */
export async function continueAnswer(
  res: ServerResponse,
  first: Handover,
  plan: (handover: Handover) => Promise<Continuation>,
): Promise<void> {
  for (let next: Handover | undefined = first; next; ) next = await takeOver(res, next, plan);
}

async function takeOver(
  res: ServerResponse,
  handover: Handover,
  plan: (handover: Handover) => Promise<Continuation>,
): Promise<Handover | undefined> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 1.5, PAUSE_MS.longest)) {
    try {
      return await ask(res, handover, await plan(handover));
    } catch (error) {
      if (res.destroyed) throw new ClientGoneError(error);
      if (isRefusal(error) || performance.now() > giveUpAt) throw error;
    }
    await pause(pauseMs);
  }
}

async function ask(res: ServerResponse, { path }: Handover, plan: Continuation): Promise<Handover | undefined> {
  let failure: unknown = new UnavailableError('No process of the deployment can be reached');
  for (const upstream of plan.upstreams) {
    try {
      return await exchange(res, upstream, {
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
  if (error instanceof NotContinuedError) return error.isFinal;
  return error instanceof AppError && !(error instanceof UnavailableError) && !(error instanceof TooManyRequestsError);
}
