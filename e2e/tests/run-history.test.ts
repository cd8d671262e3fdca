import type { JournalRunDetail, RunFacets, RunSearchPage, RunStatistics, RunsChanged } from '@runyard/contracts';
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

it('a hint of a run that the SDK made comes within two seconds, and a search then has the run', async () => {
  const leaving = new AbortController();
  const { body, headers } = await fetch(`${url}/v2/runs/changes?deployment_ids=${deploymentId}`, {
    headers: { 'x-api-key': apiKey },
    signal: leaving.signal,
  });
  expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const hints = readEvents(body!);
  expect((await hints.next()).value).toEqual(['ready', {}]);

  const metadata = { test: 'run-history changes' };
  const client = newClient();
  const { thread_id } = await client.threads.create();
  const begun = performance.now();
  const { run_id } = await client.runs.create(thread_id, 'chat', {
    input: { messages: [{ role: 'user', content: 'hello' }] },
    metadata,
  });
  // Other tests make runs too: their hints come first, perhaps.
  let found: RunSearchPage['runs'] = [];
  while (found.length === 0) {
    const { value } = await hints.next();
    const [event, data] = value as [string, RunsChanged];
    expect([event, data.deployment_ids]).toEqual(['runs_changed', [deploymentId]]);
    found = (await ask<RunSearchPage>('search', { metadata })).runs;
  }
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(found.map((run) => run.run_id)).toEqual([run_id]);
  leaving.abort();
});

/** Yields the names and data of a stream's events. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<[string, unknown]> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    const messages = (text + decoder.decode(chunk, { stream: true })).split('\r\n\r\n');
    text = messages.pop()!;
    for (const message of messages) {
      const [, event, data] = /^event: (.*)\r\ndata: (.*)$/.exec(message) ?? [];
      if (event && data) yield [event, JSON.parse(data)];
    }
  }
}
