import { expect } from 'vitest';
import { fieldCase, type ParityCase, type ParityContext, statusCase } from '../../framework/index.ts';
import { createRun, recordOf, runFieldCases, runMirror } from './run-fixtures.ts';

const FIELDS = { score: 0.5, value: 'warm', comment: 'so so', correction: 'better' };

export const cases: ParityCase[] = [
  ...runFieldCases({
    field: 'feedback_keys',
    promise: 'a URL for feedback comes with the result, and as the last event of a stream',
    run: async (context) => {
      const { made, values } = await runMirror(context, { feedback_keys: ['helpful'] });
      expect((await recordOf(context, made)).kwargs.feedback_keys).toEqual(['helpful']);
      const told = [
        values.__feedback__,
        ...(context.operation.startsWith('stream') ? [made.answer.events.at(-1)?.data] : []),
        ...(context.operation.startsWith('wait') ? [made.answer.body.__feedback__] : []),
      ];
      for (const urls of told) expect(urls).toEqual({ helpful: expect.stringContaining('/feedback/tokens/') });
    },
  }),
  fieldCase({
    operations: ['waitRun', 'waitStatelessRun'],
    field: 'query.feedback_keys',
    promise: 'keys for feedback can be in the query',
    run: async (context) => {
      const body = { assistant_id: 'mirror', input: { text: 'hi' } };
      const { answer } = await createRun(context, body, { query: { feedback_keys: 'helpful' } });
      expect(answer.body.__feedback__).toEqual({ helpful: expect.any(String) });
    },
  }),
  fieldCase({
    operations: ['joinRun'],
    field: 'query.feedback_keys',
    promise: 'who joins may ask for feedback URLs',
    run: async (context) => {
      const { thread_id } = await context.direct.client.threads.create();
      const run = await context.direct.client.runs.create(thread_id, 'mirror', { input: { text: 'hi' } });
      const answer = await context.call('joinRun', {
        params: { thread_id, run_id: run.run_id },
        query: { feedback_keys: ['helpful', 'clear'] },
      });
      expect(answer.body).toHaveProperty('__feedback__');
      expect(Object.keys(answer.body.__feedback__)).toEqual(['helpful', 'clear']);
    },
  }),
  ...Object.keys(FIELDS).flatMap((field) =>
    [
      { operation: 'giveFeedback', place: 'body' },
      { operation: 'giveFeedbackByLink', place: 'query' },
    ].map(({ operation, place }) =>
      fieldCase({
        operations: [operation],
        field: `${place}.${field}`,
        promise: 'what is said about a run is kept with it',
        run: async (context) => {
          const { token, run } = await issued(context);
          await context.call(operation, { params: { token }, [place]: FIELDS });
          const { body } = await context.direct.call('listFeedback', { params: run });
          expect(body).toMatchObject([{ run_id: run.run_id, key: 'helpful', ...FIELDS }]);
        },
      }),
    ),
  ),
  fieldCase({
    operations: ['giveFeedback'],
    field: 'body.metadata',
    promise: 'what is said may carry metadata',
    run: async (context) => {
      const { token } = await issued(context);
      const { body } = await context.call('giveFeedback', { params: { token }, body: { metadata: { by: 'me' } } });
      expect(body.metadata).toEqual({ by: 'me' });
    },
  }),
  statusCase({
    operation: 'giveFeedback',
    status: 413,
    promise: 'no more is taken than a feedback may hold',
    run: async (context) => {
      const { token } = await issued(context);
      return context.call('giveFeedback', { params: { token }, body: { value: 'x'.repeat(70_000) } });
    },
  }),
  ...['giveFeedback', 'giveFeedbackByLink'].map((operation) =>
    statusCase({
      operation,
      status: 429,
      promise: 'one URL takes only so much',
      run: async (context) => {
        const { token } = await issued(context);
        const give = () =>
          context.call(operation, { params: { token }, ...(operation === 'giveFeedback' && { body: {} }) });
        await Promise.all(Array.from({ length: 100 }, give));
        return give();
      },
    }),
  ),
  statusCase({
    operation: 'listFeedback',
    status: 200,
    promise: 'a run about which nothing was said has no feedback',
    run: async (context) => {
      const answer = await context.call('listFeedback', { params: (await issued(context)).run });
      expect(answer.body).toEqual([]);
      return answer;
    },
  }),
];

/** Returns an ended run, and the token of its feedback URL. */
async function issued({ direct }: ParityContext) {
  const { thread_id } = await direct.client.threads.create();
  const answer = await direct.call('waitRun', {
    params: { thread_id },
    body: { assistant_id: 'mirror', input: { text: 'hi' }, feedback_keys: ['helpful'] },
  });
  const run_id = answer.headers.get('content-location')!.split('/').at(-1)!;
  return { token: answer.body.__feedback__.helpful.split('/').at(-1) as string, run: { thread_id, run_id } };
}
