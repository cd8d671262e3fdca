import { expect, inject, it } from 'vitest';
import { collectEvents, newClient } from '../harness/client.ts';

const client = newClient();

it('feedback is given by URL, without a key, through the gateway', async () => {
  const { thread_id } = await client.threads.create();
  const events = await collectEvents(
    client.runs.stream(thread_id, 'mirror', { input: { text: 'hi' }, feedbackKeys: ['helpful', 'clear'] }),
  );
  const { event, data } = events.at(-1)!;
  expect(event).toBe('feedback');
  const urls = data as Record<string, string>;
  expect(Object.keys(urls)).toEqual(['helpful', 'clear']);

  const given = await fetch(urls.helpful!, { method: 'POST', body: JSON.stringify({ score: 1, comment: 'thanks' }) });
  expect(given.status).toBe(200);
  expect((await fetch(`${urls.clear}?score=0`)).status).toBe(200);
  expect((await fetch(`${urls.clear}x`)).status).toBe(404);

  const { run_id } = events[0]!.data as { run_id: string };
  const { deploymentUrl, apiKey } = inject('platform');
  const place = `${deploymentUrl}/threads/${thread_id}/runs/${run_id}/feedback`;
  expect((await fetch(place)).status).toBe(401);
  const kept = await (await fetch(place, { headers: { 'x-api-key': apiKey } })).json();
  expect(kept).toMatchObject([
    { run_id, key: 'helpful', score: 1, comment: 'thanks' },
    { run_id, key: 'clear', score: 0, comment: null },
  ]);
});
