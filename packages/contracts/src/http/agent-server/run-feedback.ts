import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Timestamp, Uuid } from '../common.ts';
import {
  exampleRun,
  invalidRunResponse,
  runNotFoundResponses,
  runParams,
  threadRunOperation,
} from './run-responses.ts';
import { RUN_PARAMS } from './runs.ts';

/** The statement of a feedback URL's holder about a run; every field is optional. */
const feedbackFields = {
  score: Type.Optional(Type.Union([Type.Number(), Type.Boolean(), Type.Null()])),
  comment: Type.Optional(Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()])),
};
export const FeedbackBody = Type.Object(
  {
    ...feedbackFields,
    value: Type.Optional(Type.Unknown({ description: 'A category or anything else that is no number.' })),
    correction: Type.Optional(Type.Unknown({ description: 'What the run should have answered.' })),
    metadata: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  },
  { $id: 'FeedbackBody' },
);
export type FeedbackBody = Static<typeof FeedbackBody>;

const FeedbackQuery = Type.Object({
  score: Type.Optional(Type.Number()),
  value: Type.Optional(Type.String({ maxLength: 10_000 })),
  comment: Type.Optional(Type.String({ maxLength: 10_000 })),
  correction: Type.Optional(Type.String({ maxLength: 10_000 })),
});

export const Feedback = Type.Object(
  {
    feedback_id: Uuid,
    run_id: Uuid,
    key: Type.String({ description: 'One of the `feedback_keys` asked for.' }),
    score: Type.Union([Type.Number(), Type.Boolean(), Type.Null()]),
    value: Type.Unknown(),
    comment: Type.Union([Type.String(), Type.Null()]),
    correction: Type.Unknown(),
    metadata: Type.Record(Type.String(), Type.Unknown()),
    created_at: Timestamp,
  },
  { $id: 'Feedback' },
);
export type Feedback = Static<typeof Feedback>;

const exampleFeedback: Feedback = {
  feedback_id: '01a1c7df-0b52-7c11-9a31-6d0f2b7e8a10',
  run_id: exampleRun.run_id,
  key: 'helpful',
  score: 1,
  value: null,
  comment: 'Just what I needed.',
  correction: null,
  metadata: {},
  created_at: '2026-11-20T20:21:07.000000+00:00',
};

/** Needs no key but the URL: its token is signed, expires, and is valid for one feedback key of one run. */
const byToken = {
  tags: ['Feedback'],
  access: 'public' as const,
  path: '/feedback/tokens/{token}',
  params: Type.Object({ token: Type.String({ maxLength: 4_096 }) }),
  responses: {
    200: { description: 'Kept with the run.', schema: Feedback, example: exampleFeedback },
    404: { description: 'The token was not issued here, has expired, or its run is gone.', schema: ErrorResponse },
    413: { description: 'More than a feedback may hold.', schema: ErrorResponse },
    422: invalidRunResponse,
    429: { description: 'There is as much feedback on this key of the run as is kept.', schema: ErrorResponse },
  },
};
const EXAMPLE_TOKEN = 'eyJydW4iOiIwMWExYzdkZSJ9.c2lnbmF0dXJl';

export const giveFeedback = defineOperation({
  ...byToken,
  operationId: 'giveFeedback',
  method: 'post',
  summary: 'Say something about a run, by a URL that was issued for it',
  body: FeedbackBody,
  bodyLimitBytes: 65_536,
  examples: { params: { token: EXAMPLE_TOKEN }, body: { score: 1, comment: exampleFeedback.comment } },
});

const { 413: _tooLarge, ...linkResponses } = byToken.responses;
export const giveFeedbackByLink = defineOperation({
  ...byToken,
  operationId: 'giveFeedbackByLink',
  method: 'get',
  summary: 'The same as a link to click on',
  query: FeedbackQuery,
  responses: linkResponses,
  examples: { params: { token: EXAMPLE_TOKEN }, query: { score: 1 } },
});

export const listFeedback = defineOperation({
  ...threadRunOperation,
  operationId: 'listFeedback',
  method: 'get',
  path: '/threads/{thread_id}/runs/{run_id}/feedback',
  permission: 'runs:read',
  summary: 'What was said about a run, oldest first',
  params: RUN_PARAMS,
  responses: {
    200: { description: 'The feedback.', schema: Type.Array(Feedback), example: [exampleFeedback] },
    ...runNotFoundResponses,
  },
  examples: { params: runParams },
});

export const RUN_FEEDBACK_OPERATIONS = [giveFeedback, giveFeedbackByLink, listFeedback];
