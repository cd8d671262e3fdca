import * as contracts from '@runyard/contracts';
import { type BoundOperation, bind, NotFoundError, ok } from '@runyard/service-kit';
import type { RequireRun } from '../access/require-run.ts';
import { UNRESTRICTED } from '../access/scope.ts';
import type { FeedbackStore } from './feedback-store.ts';
import type { FeedbackSubject, FeedbackTokens } from './feedback-tokens.ts';

export interface FeedbackParts {
  tokens: FeedbackTokens;
  store: FeedbackStore;
  requireRun: RequireRun;
}

export function feedbackRoutes({ tokens, store, requireRun }: FeedbackParts): BoundOperation[] {
  return [
    bind(contracts.giveFeedback, async ({ params, body }) => ok(await store.add(subjectOf(params.token), body))),
    bind(contracts.giveFeedbackByLink, async ({ params, query }) =>
      ok(await store.add(subjectOf(params.token), query)),
    ),
    bind(contracts.listFeedback, async ({ params }) => {
      await requireRun(UNRESTRICTED, params.thread_id, params.run_id);
      return ok(await store.list(params.run_id));
    }),
  ];

  function subjectOf(token: string): FeedbackSubject {
    const subject = tokens.read(token);
    if (!subject) throw new NotFoundError('The feedback URL was not issued here, or has expired');
    return subject;
  }
}
