import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask, open } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

type Urls = Record<string, string>;
const body = { assistant_id: 'echo', input: {}, feedback_keys: ['helpful'] };

async function waitedFor(values: unknown, query = '') {
  const { thread_id } = await deployment.client.threads.create();
  const answer = open(`${deployment.url}/threads/${thread_id}/runs/wait${query}`, { body });
  const run = await deployment.worker.take();
  await run.succeed(values);
  const result = JSON.parse(await (await answer).complete) as Record<string, unknown> & { __feedback__: Urls };
  return { result, place: `${deployment.url}/threads/${thread_id}/runs/${run.claimed.runId}`, run };
}

describe('feedback URLs', () => {
  it('come with the result of a run, for the keys of the body and of the query', async () => {
    const { result, place } = await waitedFor({ n: 1 }, '?feedback_keys=clear');
    expect(result).toEqual({
      n: 1,
      __feedback__: { helpful: expect.stringMatching(/^http:/), clear: expect.stringMatching(/^http:/) },
    });
    const joined = (await ask(`${place}/join?feedback_keys=clear,other`)).json as { __feedback__: Urls };
    expect(Object.keys(joined.__feedback__)).toEqual(['helpful', 'clear', 'other']);
  });

  it('come as the last event of a stream, and of none that fails', async () => {
    for (const ending of ['succeed', 'fail'] as const) {
      const { thread_id } = await deployment.client.threads.create();
      const answer = await open(`${deployment.url}/threads/${thread_id}/runs/stream`, { body });
      const run = await deployment.worker.take();
      if (ending === 'succeed') await run.succeed({});
      else await run.fail({ error: 'KettleError', message: 'cold' });
      const text = await answer.complete;
      if (ending === 'succeed') expect(text).toMatch(/event: feedback\r\ndata: \{"helpful":"http[^"]+"\}\r\n\r\n$/);
      else expect(text).not.toContain('feedback');
    }
  });

  it('store what they receive with the run', async () => {
    const { result, place } = await waitedFor({});
    const url = result.__feedback__.helpful!;
    const said = {
      score: true,
      comment: 'good\u0000',
      value: { tone: 'warm' },
      correction: ['x'],
      metadata: { by: 'me' },
    };
    expect(await ask(url, { body: said })).toMatchObject({ status: 200, json: { key: 'helpful', score: true } });
    expect((await ask(`${url}?score=0.5&comment=so%20so`)).status).toBe(200);
    expect((await ask(`${place}/feedback`)).json).toMatchObject([
      {
        key: 'helpful',
        score: true,
        comment: 'good\uFFFD',
        value: { tone: 'warm' },
        correction: ['x'],
        metadata: { by: 'me' },
      },
      { key: 'helpful', score: 0.5, comment: 'so so', value: null, correction: null, metadata: {} },
    ]);
  });

  it('refuse a token that was not issued, a body that is too large, too many of them, and a deleted run', async () => {
    const { result, place } = await waitedFor({});
    const url = result.__feedback__.helpful!;
    expect((await ask(`${url}x`, { body: {} })).status).toBe(404);
    expect((await ask(url, { body: { score: 'high' } })).status).toBe(422);
    expect((await ask(url, { body: { value: 'x'.repeat(70_000) } })).status).toBe(413);
    await Promise.all(Array.from({ length: 100 }, () => ask(url, { body: { score: 1 } })));
    expect((await ask(url, { body: { score: 1 } })).status).toBe(429);
    expect((await ask(place, { method: 'DELETE' })).status).toBe(204);
    expect((await ask(url, { body: { score: 1 } })).status).toBe(404);
    expect(
      await deployment.pool.query('SELECT FROM run_feedback WHERE comment IS NULL AND score = $1', ['1']),
    ).toMatchObject({
      rowCount: 0,
    });
  });
});
