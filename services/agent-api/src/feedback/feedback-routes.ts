import * as contracts from '@runyard/contracts';
import { NotFoundError, ok } from '@runyard/service-kit';
import type { RequireRun } from '../access/require-run.ts';
import { READ_THREAD } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { FeedbackStore } from './feedback-store.ts';
import type { FeedbackSubject, FeedbackTokens } from './feedback-tokens.ts';

export interface FeedbackParts {
  tokens: FeedbackTokens;
  store: FeedbackStore;
  requireRun: RequireRun;
  guard: RouteGuard;
}

const BY_TOKEN = 'The signed token in the URL decides.';

export function feedbackRoutes({ tokens, store, requireRun, guard }: FeedbackParts): GuardedOperation[] {
  return [
    guard.exempt(contracts.giveFeedback, BY_TOKEN, async ({ params, body }) =>
      ok(await store.add(subjectOf(params.token), body)),
    ),
    guard.exempt(contracts.giveFeedbackByLink, BY_TOKEN, async ({ params, query }) =>
      ok(await store.add(subjectOf(params.token), query)),
    ),
    guard.bind(contracts.listFeedback, [READ_THREAD], async ({ params }, [scope]) => {
      await requireRun(scope, params.thread_id, params.run_id);
      return ok(await store.list(params.run_id));
    }),
  ];

  function subjectOf(token: string): FeedbackSubject {
    const subject = tokens.read(token);
    if (!subject) throw new NotFoundError('The feedback URL was not issued here, or has expired');
    return subject;
  }
}
