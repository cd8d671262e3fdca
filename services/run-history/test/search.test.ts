import { randomUUID } from 'node:crypto';
import type { JournalRunDetail, RunFacets, RunSearchPage } from '@runyard/contracts';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEvent, successOf, TestHistory, type ToldRun } from './support/history.ts';

let history: TestHistory;
beforeAll(async () => {
  history = await TestHistory.start();
});
afterAll(() => history.close());

const idsOf = (runs: { run_id: string }[]) => runs.map(({ run_id }) => run_id);

it('a run is found with all that its events said', async () => {
  const [cron_id, revision_id] = [uuidv7(), randomUUID()];
  const run = history.newRun(await history.addDeployment());
  const creator = { kind: 'session', identity: 'someone', key_id: 'a-key' };
  await history.publish(
    runEvent(run, 'created', { graph_id: 'agent', metadata: { customer: 'c-42', cron_id }, creator }),
    runEvent(run, 'started', { attempt: 1, revision_id }, 25),
    runEvent(run, 'retried', { attempt: 1, reason: 'worker_lost' }, 1000),
    runEvent(run, 'started', { attempt: 2, revision_id }, 1100),
    runEvent(run, 'cancelled', { attempt: 2, action: 'interrupt' }, 1200),
    runEvent(run, 'finished', { attempt: 2, status: 'interrupted' }, 2025),
  );
  const [found] = await history.waitForRuns(1, { deployment_ids: [run.deploymentId] });
  expect(found).toEqual({
    run_id: run.runId,
    deployment_id: run.deploymentId,
    thread_id: run.threadId,
    assistant_id: run.assistantId,
    graph_id: 'agent',
    revision_id,
    cron_id,
    status: 'interrupted',
    attempt: 2,
    created_at: expect.stringMatching(/^2.*Z$/),
    started_at: expect.any(String),
    ended_at: expect.any(String),
    queue_ms: 25,
    duration_ms: 2000,
    error: null,
    cancel_action: 'interrupt',
    metadata: { customer: 'c-42', cron_id },
    creator,
    usage: null,
  });
  const { body } = await history.call<JournalRunDetail>('GET', `/v2/runs/${run.runId}`);
  expect(body).toMatchObject({
    ...found,
    attempts: [
      { attempt: 1, started_at: found!.started_at, outcome: 'worker_lost' },
      { attempt: 2, ended_at: found!.ended_at, outcome: 'interrupted' },
    ],
  });
});

describe('a search among several runs', () => {
  const runs: Record<'plain' | 'failed' | 'slow' | 'ofCron' | 'waiting', ToldRun> = {} as never;
  const creator = { kind: 'service_key', identity: 'maker', key_id: 'key-1' };
  const [revisionId, cronId] = [randomUUID(), uuidv7()];
  let among: object;
  beforeAll(async () => {
    const deploymentId = await history.addDeployment();
    among = { deployment_ids: [deploymentId] };
    // Ids that are made within one millisecond have no order of time.
    const at = Date.now() - 60_000;
    for (const [index, name] of ['plain', 'failed', 'slow', 'ofCron', 'waiting'].entries()) {
      runs[name as keyof typeof runs] = history.newRun(deploymentId, { runId: uuidv7({ msecs: at + index * 1000 }) });
    }
    const error = { error: 'ValueError', message: 'no such Customer: 42' };
    await history.publish(
      ...successOf(runs.plain, { creator, metadata: { plan: { name: 'gold', seats: 3 } } }),
      runEvent(runs.failed, 'created', { graph_id: 'other' }),
      runEvent(runs.failed, 'started', { attempt: 1, revision_id: revisionId }, 5_000),
      runEvent(runs.failed, 'finished', { attempt: 1, status: 'error', error }, 5_100),
      ...successOf(runs.slow, { metadata: { plan: { name: 'free' } } }, 90_000),
      ...successOf(runs.ofCron, { metadata: { cron_id: cronId }, creator: { kind: 'cron', identity: 'clock' } }),
      runEvent(runs.waiting, 'created', { graph_id: 'agent' }),
    );
    await history.waitForRuns(5, among);
  });

  const find = async (filters: object) => idsOf(await history.search({ ...among, ...filters }));

  it('shows the newest first', async () => {
    const { waiting, ofCron, slow, failed, plain } = runs;
    expect(await find({})).toEqual([waiting, ofCron, slow, failed, plain].map(({ runId }) => runId));
  });

  it.each<[string, keyof typeof runs, () => object]>([
    ['status', 'failed', () => ({ statuses: ['error', 'timeout'] })],
    ['one status', 'waiting', () => ({ statuses: ['pending'] })],
    ['graph', 'failed', () => ({ graph_ids: ['other'] })],
    ['assistant', 'slow', () => ({ assistant_ids: [runs.slow.assistantId] })],
    ['thread', 'slow', () => ({ thread_ids: [runs.slow.threadId] })],
    ['revision', 'failed', () => ({ revision_ids: [revisionId] })],
    ['cron', 'ofCron', () => ({ cron_ids: [cronId] })],
    ['creator', 'ofCron', () => ({ creators: ['clock'] })],
    ['key', 'plain', () => ({ key_ids: ['key-1'] })],
    ['metadata', 'plain', () => ({ metadata: { plan: { name: 'gold' } } })],
    ['words of the error, in any case', 'failed', () => ({ error: 'valueerror CUSTOMER' })],
    ['duration', 'slow', () => ({ min_duration_ms: 80_000, max_duration_ms: 100_000 })],
    ['wait', 'failed', () => ({ min_queue_ms: 5_000 })],
    [
      'time',
      'slow',
      () => ({
        created_after: new Date(Number.parseInt(runs.slow.runId.replace('-', '').slice(0, 12), 16)).toISOString(),
        created_before: new Date(Number.parseInt(runs.slow.runId.replace('-', '').slice(0, 12), 16) + 1).toISOString(),
      }),
    ],
    ['several things together', 'plain', () => ({ statuses: ['success'], creators: ['maker'], max_duration_ms: 500 })],
  ])('finds by %s', async (_, name, filters) => {
    expect(await find(filters())).toEqual([runs[name].runId]);
  });

  it('finds nothing by what no run has', async () => {
    expect(await find({ metadata: { plan: { name: 'none' } } })).toEqual([]);
    expect(await find({ error: 'customer unknown' })).toEqual([]);
    expect(await find({ statuses: ['timeout'] })).toEqual([]);
  });

  it('goes on from page to page, without a run twice or left out', async () => {
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const options: { body: object } = { body: { ...among, limit: 2, ...(cursor && { cursor }) } };
      const { body: page } = await history.call<RunSearchPage>('POST', '/v2/runs/search', options);
      pages.push(idsOf(page.runs));
      cursor = page.next_cursor;
    } while (cursor);
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(await find({}));
  });

  it('counts the values of fields', async () => {
    const { body } = await history.call<RunFacets>('POST', '/v2/runs/facets', { body: among });
    expect(body).toMatchObject({ runs: 5, is_complete: true });
    expect(body.facets.status).toEqual([
      { value: 'success', runs: 3 },
      { value: 'pending', runs: 1 },
      { value: 'error', runs: 1 },
    ]);
    expect(body.facets.error).toEqual([{ value: 'ValueError', runs: 1 }]);
    expect(body.facets.graph_id[0]).toEqual({ value: 'agent', runs: 4 });
  });
});

describe('the runs of a workspace', () => {
  it('are those of nobody else', async () => {
    const run = history.newRun(await history.addDeployment());
    await history.publish(...successOf(run));
    await history.waitForRuns(1, { deployment_ids: [run.deploymentId] });
    const other = { workspace_id: OTHER_WORKSPACE };
    const body = { deployment_ids: [run.deploymentId] };
    expect(await history.search(body, other)).toEqual([]);
    expect(await history.search({ thread_ids: [run.threadId] }, other)).toEqual([]);
    expect(await history.search(body, { organization_id: randomUUID() })).toEqual([]);
    for (const as of [other, { organization_id: randomUUID() }]) {
      expect(await history.call('GET', `/v2/runs/${run.runId}`, { as })).toEqual({
        status: 404,
        body: { detail: `Run ${run.runId} not found.` },
      });
    }
  });

  it('are for callers with the permission', async () => {
    for (const path of ['search', 'facets']) {
      expect((await history.call('POST', `/v2/runs/${path}`, { as: { permissions: [] } })).status).toBe(403);
    }
    expect((await history.call('GET', `/v2/runs/${uuidv7()}`, { as: { permissions: ['runs:create'] } })).status).toBe(
      403,
    );
  });

  it('are those of the deployments that access policies leave', async () => {
    const [seen, hidden] = [
      history.newRun(await history.addDeployment()),
      history.newRun(await history.addDeployment()),
    ];
    await history.publish(...successOf(seen));
    await history.publish(...successOf(hidden));
    const ids = [seen.deploymentId, hidden.deploymentId];
    await history.waitForRuns(2, { deployment_ids: ids });
    history.callers.left.set(hidden.deploymentId, ['deployments:read']);
    for (const claims of [
      { permissions: ['runs:read'], bounded_by_policies: true },
      { permissions: [], bounded_by_policies: true, permissions_by_policy: ['runs:read'] },
    ]) {
      expect(idsOf(await history.search({ deployment_ids: ids }, claims))).toEqual([seen.runId]);
      expect((await history.call('GET', `/v2/runs/${hidden.runId}`, { as: claims })).status).toBe(404);
      const facets = await history.call<RunFacets>('POST', '/v2/runs/facets', {
        body: { deployment_ids: ids },
        as: claims,
      });
      expect(facets.body.runs).toBe(1);
    }
    history.callers.left.set(seen.deploymentId, ['deployments:read']);
    const nothing = await history.call<RunSearchPage>('POST', '/v2/runs/search', {
      body: { deployment_ids: ids },
      as: { permissions: ['runs:read'], bounded_by_policies: true },
    });
    expect(nothing.body.next_cursor).toBeNull();
    const without = { permissions: [], bounded_by_policies: true };
    expect((await history.call('POST', '/v2/runs/search', { body: {}, as: without })).status).toBe(403);
  });
});

it.each<[string, object]>([
  ['a cursor of something else', { cursor: 'x' }],
  ['an unknown status', { statuses: ['done'] }],
  ['a deployment that is no id', { deployment_ids: ['mine'] }],
  ['no number', { limit: 0 }],
  ['too many', { limit: 201 }],
  ['an empty list', { graph_ids: [] }],
  ['a time without a form', { created_after: 'yesterday' }],
  ['a time that is none', { created_before: '2026-11-30T23:59:60Z' }],
  ['metadata nested too deeply', { metadata: { a: JSON.parse('['.repeat(1_000) + ']'.repeat(1_000)) } }],
  ['a wide filter on metadata', { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, i])) }],
])('a search for %s is refused', async (_, body) => {
  const answer = await history.call<{ detail: unknown[] }>('POST', '/v2/runs/search', { body });
  expect([answer.status, Array.isArray(answer.body.detail)]).toEqual([422, true]);
});

it.each<[string, object]>([
  ['characters that Postgres cannot keep', { creators: ['a\u0000b'], error: '\u0000', graph_ids: ['\ud800'] }],
  ['metadata with such characters', { metadata: { 'a\u0000': '\ud800' } }],
  ['operators of text search', { error: `'&|!():* \\ <->` }],
  ['a time far away', { created_after: '0000-01-01T00:00:00Z', created_before: '9999-12-31T23:59:59-14:00' }],
  ['deep metadata', { metadata: { a: JSON.parse('['.repeat(90) + ']'.repeat(90)) } }],
  ['metadata without a value', { metadata: { a: {} } }],
  ['several things that have an index each', { statuses: ['error'], creators: ['me'], assistant_ids: [randomUUID()] }],
])('a search for %s is answered', async (_, body) => {
  expect((await history.call('POST', '/v2/runs/search', { body })).status).toBe(200);
});
