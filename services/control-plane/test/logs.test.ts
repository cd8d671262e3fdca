import { randomUUID } from 'node:crypto';
import type { LogPage } from '@runyard/contracts';
import { makeLogOpener } from '@runyard/revision-logs';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
let id: string;
let revisionId: string;
const RUN = randomUUID();
beforeAll(async () => {
  platform = await TestPlatform.start();
  const deployment = await platform.createHealthy();
  id = deployment.id;
  revisionId = deployment.active_revision_id!;
  // Another process writes to the same folder.
  const open = makeLogOpener(platform.folder, silentLogger);
  const log = open({ deploymentId: id, revisionId, kind: 'build' }, { secrets: [] });
  for (let line = 1; line <= 120; line += 1) {
    log.write(`line ${line}`, { source: 'build', level: line % 40 === 0 ? 'ERROR' : 'INFO' });
  }
  const about = { runId: RUN, threadId: 'a thread', graphId: 'agent' };
  log.write(JSON.stringify({ level: 'warn', message: 'of a run', ...about }), { source: 'run-worker' });
  await log.close();
});
afterAll(() => platform.close());

const post = (path: string, body?: unknown) => platform.call<LogPage>('POST', `/v1/projects/${id}${path}`, { body });
const buildLogs = (body?: unknown) => post(`/revisions/${revisionId}/build_logs`, body);
const get = (query: string) =>
  platform.call<LogPage>('GET', `/v2/deployments/${id}/revisions/${revisionId}/logs?${query}`);
const messagesOf = (answer: { body: LogPage }) => answer.body.logs.map(({ message }) => message);

describe('logs of a revision', () => {
  it('are read page by page, as a client follows a build', async () => {
    const seen: string[] = [];
    let offset: string | undefined;
    for (let page = 0; page < 5; page += 1) {
      const { status, body } = await buildLogs({ order: 'asc', limit: 50, ...(offset && { offset }) });
      expect(status).toBe(200);
      seen.push(...body.logs.map(({ message }) => message));
      offset = body.next_offset ?? offset;
    }
    expect(seen).toHaveLength(121);
    expect(seen.slice(0, 2)).toEqual(['line 1', 'line 2']);
  });

  it('are read newest first, as a client shows them after a failure', async () => {
    const answer = await buildLogs({ order: 'desc', limit: 3 });
    expect(messagesOf(answer)).toEqual(['of a run', 'line 120', 'line 119']);
    expect(answer.body.logs[1]).toEqual({
      id: expect.any(String),
      timestamp: expect.any(Number),
      level: 'ERROR',
      message: 'line 120',
      source: 'build',
      revision_id: revisionId,
    });
  });

  it('are filtered by level, text, time and run', async () => {
    const all = (await get('type=build&limit=1000')).body.logs;
    expect(messagesOf(await get('type=build&level=ERROR'))).toEqual(['line 40', 'line 80', 'line 120']);
    expect(messagesOf(await get('type=build&query=LINE%2011'))).toHaveLength(11);
    expect((await get(`type=build&run_id=${RUN}`)).body.logs).toMatchObject([
      { message: 'of a run', level: 'WARNING', run_id: RUN, thread_id: 'a thread', graph_id: 'agent' },
    ]);
    const [from, to] = [all[9]!, all[12]!].map(({ timestamp }) => new Date(timestamp).toISOString());
    expect(messagesOf(await get(`type=build&start_time=${from}&end_time=${to}`))).toEqual(
      all.slice(9, 13).map(({ message }) => message),
    );
  });

  it('contain the output of its servers, of one revision or of all', async () => {
    const printed = `fake agent of revision ${revisionId} starts`;
    const of = (path: string) =>
      waitFor(async () => {
        const { logs } = (await post(path, { query: 'fake agent' })).body;
        return logs.length >= 2 && logs;
      });
    for (const path of [`/revisions/${revisionId}/deploy_logs`, '/deploy_logs']) {
      const logs = await of(path);
      expect(logs.every(({ message }) => message === printed)).toBe(true);
      expect(logs.map(({ source }) => source).sort()).toEqual(['agent-api', 'run-worker']);
    }
  });

  it('are shown only to those who may read the deployment', async () => {
    const path = `/v1/projects/${id}/revisions/${revisionId}/build_logs`;
    const ask = (as: object) => platform.call('POST', path, { as, body: {} });
    expect(await ask({ workspace_id: OTHER_WORKSPACE })).toEqual({
      status: 404,
      body: { detail: `Deployment ID ${id} not found.` },
    });
    expect(await ask({ permissions: [] })).toMatchObject({ status: 403 });
    const other = randomUUID();
    expect(await platform.call('GET', `/v2/deployments/${id}/revisions/${other}/logs?type=build`)).toEqual({
      status: 404,
      body: { detail: `Revision ID ${other} not found.` },
    });
  });

  it.each([
    ['limit=0&type=build', ['query', 'limit']],
    ['limit=1001&type=build', ['query', 'limit']],
    ['limit=10', ['query', 'type']],
    ['type=all', ['query', 'type']],
    ['type=build&offset=17', ['query', 'offset']],
    ['type=build&start_time=yesterday', ['query', 'start_time']],
    ['type=build&end_time=2026-01-01T23:59:60Z', ['query', 'end_time']],
    ['type=build&level=LOUD', ['query', 'level']],
    ['type=build&run_id=x', ['query', 'run_id']],
  ])('are refused for %s', async (query, loc) => {
    const { status, body } = await platform.call<{ detail: { loc: unknown }[] }>(
      'GET',
      `/v2/deployments/${id}/revisions/${revisionId}/logs?${query}`,
    );
    expect({ status, loc: body.detail[0]?.loc }).toEqual({ status: 422, loc });
  });
});
