import type { JournalRunDetail, RunFacets, RunSearchPage, RunStatistics } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';

const { url, apiKey, deploymentId } = inject('platform');

async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${url}/v2/runs/${path}`, {
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

it('runs that the SDK made are found across threads, with their ends, errors and makers, over Kafka', async () => {
  const client = newClient();
  const metadata = { test: 'run-history' };
  const threads = await Promise.all(['chat', 'boom', 'boom'].map(() => client.threads.create()));
  const made = await Promise.all(
    ['chat', 'boom', 'boom'].map((graph, index) =>
      client.runs.create(threads[index]!.thread_id, graph, {
        input: { messages: [{ role: 'user', content: 'hello' }], value: 'x' },
        metadata,
      }),
    ),
  );
  const { runs } = await waitFor(async () => {
    const page = await ask<RunSearchPage>('search', { metadata });
    return page.runs.filter(({ ended_at }) => ended_at !== null).length === 3 && page;
  });
  expect(runs.map(({ run_id }) => run_id).toSorted()).toEqual(made.map(({ run_id }) => run_id).toSorted());
  const chat = runs.find(({ graph_id }) => graph_id === 'chat')!;
  expect(chat).toMatchObject({
    status: 'success',
    deployment_id: deploymentId,
    thread_id: threads[0]!.thread_id,
    attempt: 1,
    error: null,
    creator: { kind: 'service_key', key_id: expect.any(String) },
    revision_id: expect.any(String),
  });
  const failed = await ask<RunSearchPage>('search', { metadata, statuses: ['error'], graph_ids: ['boom'] });
  expect(failed.runs.map(({ error }) => error?.message)).toEqual([expect.any(String), expect.any(String)]);
  const detail = await ask<JournalRunDetail>(chat.run_id);
  expect(detail.attempts).toEqual([
    { attempt: 1, started_at: chat.started_at, ended_at: chat.ended_at, outcome: 'success' },
  ]);

  const { facets } = await ask<RunFacets>('facets', { metadata });
  expect(facets.graph_id).toEqual([
    { value: 'boom', runs: 2 },
    { value: 'chat', runs: 1 },
  ]);
  const statistics = { start_time: new Date(Date.now() - 3_600_000).toISOString(), step: 'minute' };
  const { total } = await ask<RunStatistics>('statistics', { ...statistics, graph_ids: ['boom'] });
  expect(total.error).toBeGreaterThanOrEqual(2);
  expect(total.duration_ms.p50).not.toBeNull();
});
