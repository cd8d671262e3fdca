import * as contracts from '@runyard/contracts';
import { type BoundOperation, bind, NotFoundError, ok } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import type { RunService } from '../runs/run-service.ts';
import type { FeedbackStore } from './feedback-store.ts';
import type { FeedbackSubject, FeedbackTokens } from './feedback-tokens.ts';

export interface FeedbackParts {
  tokens: FeedbackTokens;
  store: FeedbackStore;
  runs: Pick<RunService, 'find'>;
}

export function feedbackRoutes({ tokens, store, runs }: FeedbackParts): BoundOperation[] {
  return [
    bind(contracts.giveFeedback, async ({ params, body }) => ok(await store.add(subjectOf(params.token), body))),
    bind(contracts.giveFeedbackByLink, async ({ params, query }) =>
      ok(await store.add(subjectOf(params.token), query)),
    ),
    bind(contracts.listFeedback, async ({ params }) => {
      const run = await runs.find(UNRESTRICTED, params.thread_id, params.run_id);
      return ok(await store.list(run.runId));
    }),
  ];

  function subjectOf(token: string): FeedbackSubject {
    const subject = tokens.read(token);
    if (!subject) throw new NotFoundError('The feedback URL was not issued here, or has expired');
    return subject;
  }
}
