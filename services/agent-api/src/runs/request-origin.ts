import { type HandlerRequest, traceContextOf } from '@runyard/service-kit';
import { readLangsmithTrace } from '@runyard/tracing';
import { creatorOf, runCreatorOf } from '../auth/user-caller.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import type { RunOrigin } from './accepted-run.ts';

/** Returns what a run takes over from the request that creates it: who asks, its id, its traces and chosen headers. */
export function requestOrigin(
  { caller, res, headers }: Pick<HandlerRequest, 'caller' | 'res' | 'headers'>,
  configurableHeaders: PickHeaders,
): Omit<RunOrigin, 'scope' | 'assistantScope'> {
  return {
    ...creatorOf(caller),
    creator: runCreatorOf(caller),
    requestId: String(res.getHeader('x-request-id') ?? ''),
    headers: configurableHeaders(headers),
    trace: traceContextOf(headers),
    langsmithTrace: readLangsmithTrace(headers),
  };
}
