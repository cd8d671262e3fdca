import { setTimeout as pause } from 'node:timers/promises';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ChangeReader } from './support/change-reader.ts';
import { successOf, TestHistory } from './support/history.ts';

let history: TestHistory;
beforeAll(async () => {
  history = await TestHistory.start({ environment: { HTTP_MAX_OPEN_STREAMS: '4', DATABASE_POOL_SIZE: '4' } });
});
afterAll(() => history.close());

const readers: ChangeReader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.leave();
  await waitFor(async () => (await openStreams()) === 0);
});
const open = async (options?: Parameters<typeof ChangeReader.open>[1]) => {
  const reader = await ChangeReader.open(history, options);
  readers.push(reader);
  return reader;
};
const openStreams = async () => {
  const text = await (await fetch(`${history.service.url}/metrics`)).text();
  return Number(/^run_history_open_streams (\d+)/m.exec(text)?.[1]);
};
const sql = (text: string, values: unknown[] = []) =>
  withDatabaseClient(history.database.url, (client) => client.query(text, values));

/** Adds a deployment that the journal knows. */
async function addDeployment(workspaceId?: string): Promise<string> {
  const deploymentId = await history.addDeployment(workspaceId);
  await waitFor(async () => {
    const { rowCount } = await sql('SELECT FROM deployment WHERE deployment_id = $1', [deploymentId]);
    return rowCount === 1;
  });
  return deploymentId;
}

/** Does to the deployment what the batch of another process does. */
const change = (deploymentId: string) =>
  sql(`UPDATE deployment SET last_change = nextval('journal_change') WHERE deployment_id = $1`, [deploymentId]);

const makeRun = async (deploymentId: string) => {
  const run = history.newRun(deploymentId);
  await history.publish(...successOf(run));
  return run;
};

it('a stream says that it listens, and then which deployments have runs that changed, and shows signs of life', async () => {
  const reader = await open();
  expect(reader.contentType).toBe('text/event-stream; charset=utf-8');
  expect(reader.events[0]).toMatchObject({ event: 'ready', data: {} });
  const run = await makeRun(await addDeployment());
  await reader.waitForHint(run.deploymentId);
  expect((await history.search({ deployment_ids: [run.deploymentId] }))[0]?.run_id).toBe(run.runId);
  await waitFor(() => reader.heartbeats > 0, { timeoutMs: 8_000 });
  const hintsAtRest = reader.hints.length;
  await pause(1_500);
  expect(reader.hints.length).toBe(hintsAtRest);
});

it('what changes after `ready` is not missed, whoever listened before', async () => {
  const deploymentId = await addDeployment();
  for (let round = 0; round < 3; round += 1) {
    const reader = await open();
    await change(deploymentId);
    await reader.waitForHint(deploymentId);
    reader.leave();
    // Once the next one comes while nobody looks, and else while the last look goes on.
    await pause(round * 400);
  }
});

describe('hints name only deployments', () => {
  it("of the caller's workspace", async () => {
    const [own, other] = [await addDeployment(), await addDeployment(OTHER_WORKSPACE)];
    const reader = await open();
    const others = await open({ as: { workspace_id: OTHER_WORKSPACE } });
    await makeRun(other);
    await others.waitForHint(other);
    await makeRun(own);
    await reader.waitForHint(own);
    expect([reader.named, others.named]).toEqual([[own], [other]]);
  });

  it('that the caller may see when it changes, as policies are at the time', async () => {
    const [one, two] = [await addDeployment(), await addDeployment()];
    history.callers.left.set(two, ['deployments:read']);
    const reader = await open({ as: { bounded_by_policies: true } });
    const byPolicy = await open({
      as: { permissions: [], bounded_by_policies: true, permissions_by_policy: ['runs:read'] },
    });
    await change(two);
    await change(one);
    await Promise.all([reader, byPolicy].map((each) => each.waitForHint(one)));
    expect([reader.named, byPolicy.named]).toEqual([[one], [one]]);
    history.callers.left.set(one, []).delete(two);
    await change(one);
    await change(two);
    await reader.waitForHint(two);
    expect(reader.hints.slice(1).flatMap(({ data }) => data)).toEqual([{ deployment_ids: [two] }]);
    history.callers.left.clear();
  });

  it('that the client asks for; ones that the caller may not see are missing', async () => {
    const [one, two, other] = [await addDeployment(), await addDeployment(), await addDeployment(OTHER_WORKSPACE)];
    const reader = await open({ query: `?deployment_ids=${one.toUpperCase()}&deployment_ids=${other}` });
    for (const deploymentId of [two, other, one]) await change(deploymentId);
    await reader.waitForHint(one);
    await change(two);
    await pause(1_200);
    expect(reader.named).toEqual([one]);
  });

  it('that are not being removed', async () => {
    const [gone, kept] = [await addDeployment(), await addDeployment()];
    const reader = await open();
    await sql('UPDATE deployment SET is_deleted = true WHERE deployment_id = $1', [gone]);
    await makeRun(gone);
    await change(gone);
    await makeRun(kept);
    await reader.waitForHint(kept);
    expect(reader.named).not.toContain(gone);
  });
});

it('hints are held back, and not lost, while nobody can say what policies leave the caller', async () => {
  const deploymentId = await addDeployment();
  const reader = await open({ as: { bounded_by_policies: true } });
  history.callers.isUnwell = true;
  await change(deploymentId);
  await pause(1_000);
  history.callers.isUnwell = false;
  expect(reader.hints).toEqual([]);
  await reader.waitForHint(deploymentId);
});

it('a client gets two hints a second at most, however many batches are stored', async () => {
  const ids = [await addDeployment(), await addDeployment()];
  const reader = await open();
  const begun = performance.now();
  for (let batch = 0; batch < 50; batch += 1) {
    await change(ids[batch % 2]!);
    await pause(50);
  }
  const last = await addDeployment();
  await change(last);
  await reader.waitForHint(last);
  const seconds = (performance.now() - begun) / 1_000;
  expect(reader.hints.length).toBeGreaterThanOrEqual(3);
  expect(reader.hints.length).toBeLessThanOrEqual(Math.floor(seconds * 2) + 1);
  expect(reader.named.toSorted()).toEqual([...ids, last].toSorted());
});

describe('no hint is lost', () => {
  it('when the connections of the service are closed', async () => {
    const deploymentId = await addDeployment();
    const reader = await open();
    for (let round = 0; round < 3; round += 1) {
      const seen = reader.hints.length;
      await withDatabaseClient(history.database.url, async (client) => {
        await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'runyard-run-history'`,
        );
        await client.query(
          `UPDATE deployment SET last_change = nextval('journal_change') WHERE deployment_id = '${deploymentId}'`,
        );
      });
      await waitFor(() => reader.hints.length > seen);
    }
  });

  it('when the database was away', async () => {
    const deploymentId = await addDeployment();
    const reader = await open();
    await history.databaseLine.refuse();
    await change(deploymentId);
    await pause(1_500);
    expect(reader.hints).toEqual([]);
    await history.databaseLine.heal();
    await reader.waitForHint(deploymentId);
  });

  it('when the database is an older one', async () => {
    const [one, two] = [await addDeployment(), await addDeployment()];
    const reader = await open();
    await sql(`SELECT setval('journal_change', nextval('journal_change') + 1000)`);
    await change(one);
    await reader.waitForHint(one);
    await sql(`SELECT setval('journal_change', 1)`);
    await sql('UPDATE deployment SET last_change = 1');
    await reader.waitForHint(two);
    const seen = reader.hints.length;
    await change(one);
    await waitFor(() => reader.hints.length > seen);
  });
});

it('more streams than the maximum are refused, and the places of those who left are free', async () => {
  const four = [await open(), await open(), await open(), await open()];
  expect(await openStreams()).toBe(4);
  const refused = await history.call<{ detail: string }>('GET', '/v2/runs/changes');
  expect([refused.status, refused.body.detail]).toEqual([503, 'Too many streams are open at the moment']);
  // Searches get a single connection: no stream has it.
  expect(await history.search()).toEqual(expect.any(Array));
  four[0]!.leave();
  await waitFor(() => open());
});

it('a request for the headers alone is answered and takes no place', async () => {
  const answer = await fetch(`${history.service.url}/v2/runs/changes`, {
    method: 'HEAD',
    headers: await history.callers.headers({ permissions: ['runs:read'] }),
  });
  expect([answer.status, await answer.text()]).toEqual([200, '']);
  expect(await openStreams()).toBe(0);
});

it.each<[string, string, object, number]>([
  ['who may not see runs', '', { permissions: [] }, 403],
  ['of no workspace', '', { workspace_id: undefined }, 403],
  ['who asks for something that is no id', '?deployment_ids=mine', {}, 422],
  ['who asks for too many', `?${'deployment_ids=d2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03&'.repeat(101)}`, {}, 422],
])('a caller %s gets no stream', async (_, query, as, status) => {
  expect((await history.call('GET', `/v2/runs/changes${query}`, { as })).status).toBe(status);
});

it('a stream cannot begin while the database is away, unless others are open', async () => {
  // Until then the process looks for those who have left.
  await pause(1_000);
  await history.databaseLine.refuse();
  const answer = await history.call<{ detail: string }>('GET', '/v2/runs/changes');
  expect([answer.status, answer.body.detail]).toEqual([503, 'The database is not available']);
  await history.databaseLine.heal();
  const reader = await waitFor(() => open());
  const deploymentId = await addDeployment();
  await history.databaseLine.refuse();
  const other = await open();
  await change(deploymentId);
  await history.databaseLine.heal();
  await Promise.all([reader, other].map((each) => each.waitForHint(deploymentId)));
});

it('the stop of the service ends streams in order, at once', async () => {
  const reader = await open();
  const begun = performance.now();
  await history.stopService();
  await waitFor(() => reader.hasEnded);
  expect(performance.now() - begun).toBeLessThan(5_000);
  await history.startService();
});
