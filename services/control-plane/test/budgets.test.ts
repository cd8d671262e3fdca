import {
  BUDGETS_MAX,
  type Budget,
  BudgetsChanged,
  conforms,
  type Deployment,
  type ExhaustedSum,
} from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTERNAL_TOKEN } from './support/credentials.ts';
import { rowsOf } from './support/deployment-rows.ts';
import { TestPlatform } from './support/platform.ts';
import { createEmpty } from './support/sources.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start();
});
afterAll(async () => {
  await platform.deleteAll();
  await platform.close();
});

type Named = Pick<Deployment, 'id'>;
const pathOf = ({ id }: Named, budget?: Pick<Budget, 'id'>) =>
  `/v2/deployments/${id}/budgets${budget ? `/${budget.id}` : ''}`;
const ours = { name: 'ours', subject: 'creator', period: 'day', tokens_max: 1000 };
const create = (deployment: Named, body: object = ours) => platform.call<Budget>('POST', pathOf(deployment), { body });
const patch = (deployment: Named, budget: Budget, body: object) =>
  platform.call<Budget>('PATCH', pathOf(deployment, budget), { body });
const list = async (deployment: Named) =>
  (await platform.call<{ budgets: Budget[] }>('GET', pathOf(deployment))).body.budgets;
const rowsIn = (deployment: Named) =>
  rowsOf(platform, deployment, 'SELECT name, subject, subject_id, tokens_max::int, is_enforced FROM budget');

/** Calls as run-history does. */
function callInternal(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${INTERNAL_TOKEN}`, 'content-type': 'application/json' };
  return platform.call<{ budgets: object[] }>(method, path, { headers, ...(body && { body }) });
}

describe('a budget', () => {
  it('is in the database of its deployment when it is answered, and so is each change of it', async () => {
    const deployment = await platform.createHealthy();
    const { status, body } = await create(deployment);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { ...ours, subject_id: null, runs_max: null, mode: 'enforced', refusal_status: 429, is_reached: true },
    });
    const row = { name: 'ours', subject: 'creator', subject_id: null, tokens_max: 1000, is_enforced: true };
    expect(await rowsIn(deployment)).toEqual([row]);
    await create(deployment, { ...ours, name: 'of ada', subject_id: 'ada', mode: 'shadow' });
    await rowsOf(platform, deployment, "INSERT INTO budget_use SELECT budget_id, now(), '' FROM budget");

    const changed = await patch(deployment, body, { tokens_max: null, runs_max: 7, name: 'fewer' });
    expect(changed).toMatchObject({ status: 200, body: { id: body.id, name: 'fewer', tokens_max: null, runs_max: 7 } });
    expect(await rowsOf(platform, deployment, 'SELECT name, runs_max::int FROM budget ORDER BY runs_max')).toEqual([
      { name: 'fewer', runs_max: 7 },
      { name: 'of ada', runs_max: null },
    ]);
    expect((await platform.call('DELETE', pathOf(deployment, body))).status).toBe(204);
    expect((await list(deployment)).map(({ name }) => name)).toEqual(['of ada']);
    await expect.poll(() => rowsIn(deployment)).toMatchObject([{ name: 'of ada', is_enforced: false }]);
    expect(await rowsOf(platform, deployment, 'SELECT count(*)::int AS uses FROM budget_use')).toEqual([{ uses: 1 }]);
  });

  it('survives a restart of the platform, a new revision, and a loss of the row in its database', async () => {
    const deployment = await platform.createHealthy();
    await create(deployment);
    await rowsOf(platform, deployment, 'DELETE FROM budget');
    const body = { secrets: [{ name: 'GREETING', value: 'two' }] };
    const patched = (await platform.call<Deployment>('PATCH', `/v2/deployments/${deployment.id}`, { body })).body;
    await platform.untilStatus(deployment.id, patched.latest_revision_id!, 'DEPLOYED');
    expect(await rowsIn(deployment)).toMatchObject([{ name: 'ours' }]);
    await platform.stopService();
    await rowsOf(platform, deployment, 'DELETE FROM budget');
    await platform.startService();
    await expect.poll(() => rowsIn(deployment)).toMatchObject([{ name: 'ours' }]);
  });

  it('of a deployment that has not run yet holds from its first moment on', async () => {
    const deployment = await createEmpty(platform);
    expect((await create(deployment)).body).toMatchObject({ is_reached: true });
  });

  it('of an agent server that knows none is not reached, and says why', async () => {
    const secrets = [{ name: 'IS_OLD', value: '1' }];
    const deployment = await platform.createHealthy({ secrets });
    const { status, body } = await create(deployment);
    expect(status).toBe(201);
    expect(body).toMatchObject({ is_reached: false, message: expect.stringContaining('an earlier release') });
  });

  it('is made once for one idempotency key', async () => {
    const deployment = await createEmpty(platform);
    const headers = { ...(await platform.callers.headers()), 'idempotency-key': crypto.randomUUID() };
    const [one, again] = [
      await platform.call<Budget>('POST', pathOf(deployment), { body: ours, headers }),
      await platform.call<Budget>('POST', pathOf(deployment), { body: ours, headers }),
    ];
    expect(again).toMatchObject({ status: 201, body: { id: one.body.id } });
    expect(await list(deployment)).toHaveLength(1);
  });

  it('is for those of its workspace alone', async () => {
    const deployment = await createEmpty(platform);
    const { body } = await create(deployment);
    const elsewhere = { as: { workspace_id: OTHER_WORKSPACE } };
    for (const [method, path] of [
      ['GET', pathOf(deployment)],
      ['POST', pathOf(deployment)],
      ['PATCH', pathOf(deployment, body)],
      ['DELETE', pathOf(deployment, body)],
    ] as const) {
      const sent = method === 'POST' ? { body: ours } : method === 'PATCH' ? { body: { runs_max: 1 } } : {};
      expect((await platform.call(method, path, { ...elsewhere, ...sent })).status, method).toBe(404);
    }
    const other = await createEmpty(platform);
    expect((await platform.call('DELETE', pathOf(other, body))).status).toBe(404);
    expect(await list(deployment)).toHaveLength(1);
  });
});

describe('a budget of the workspace', () => {
  // One of them cannot have budgets.
  beforeAll(() => platform.deleteAll());

  const scope = '/v2/workspaces/current/budgets';
  const team = { name: 'team', subject: 'workspace', period: 'month', tokens_max: 1000 };
  const createOfWorkspace = async (body: object = team) => platform.call<Budget>('POST', scope, { body });
  const remove = (budget: Budget) => platform.call('DELETE', `${scope}/${budget.id}`);
  const exhaustedIn = (deployment: Named) =>
    rowsOf(platform, deployment, 'SELECT subject_id, exhausted FROM budget_use WHERE exhausted IS NOT NULL');
  const start = new Date(new Date().setUTCHours(0, 0, 0, 0)).toISOString();
  const report = (...exhausted: ExhaustedSum[]) => callInternal('POST', '/internal/budgets/exhausted', { exhausted });

  it('is in the databases of all its deployments, and in those of later ones', async () => {
    const [one, other] = await Promise.all([platform.createHealthy(), platform.createHealthy()]);
    const { status, body } = await createOfWorkspace();
    expect({ status, body }).toMatchObject({ status: 201, body: { ...team, deployment_id: null, is_reached: true } });
    const later = await platform.createHealthy();
    for (const each of [one, other, later]) expect(await rowsIn(each)).toMatchObject([{ name: 'team' }]);
    await create(one);
    expect(await rowsOf(platform, one, 'SELECT name FROM budget ORDER BY name')).toMatchObject([
      { name: 'ours' },
      { name: 'team' },
    ]);
    expect((await list(one)).map(({ name }) => name)).toEqual(['ours']);
    expect((await platform.call<{ budgets: Budget[] }>('GET', scope)).body.budgets).toMatchObject([{ name: 'team' }]);
    expect((await platform.call('DELETE', pathOf(one, body))).status).toBe(404);
    expect((await remove(body)).status).toBe(204);
    await waitFor(async () => (await rowsIn(other)).length === 0, { what: 'the budget to go' });
    expect(await rowsIn(one)).toMatchObject([{ name: 'ours' }]);
  });

  it('that is used up by several deployments together is so in each of them, until it is raised', async () => {
    const deployment = await platform.createHealthy();
    const { body: budget } = await createOfWorkspace({ ...team, subject: 'creator', runs_max: 5 });
    expect(await callInternal('GET', '/internal/budgets')).toMatchObject({
      body: { budgets: [{ id: budget.id, subject: 'creator', workspace_id: deployment.tenant_id }] },
    });
    const ada = { budget_id: budget.id, subject_id: 'ada', start, measure: 'runs', max: 5 } as const;
    // The cap that bob has reached is that of before.
    const reported = await report(ada, { ...ada, subject_id: 'bob', max: 4 });
    expect(reported).toMatchObject({ status: 200, body: { taken: 1 } });
    expect((await report(ada)).body).toEqual({ taken: 0 });
    await waitFor(async () => (await exhaustedIn(deployment)).length > 0, { what: 'the deployment to know' });
    expect(await exhaustedIn(deployment)).toEqual([{ subject_id: 'ada', exhausted: 'runs' }]);
    const patched = (body: object) => platform.call<Budget>('PATCH', `${scope}/${budget.id}`, { body });
    expect((await patched({ name: 'another name' })).body.is_reached).toBe(true);
    expect(await exhaustedIn(deployment)).toHaveLength(1);
    expect((await patched({ runs_max: 50 })).body.is_reached).toBe(true);
    expect(await exhaustedIn(deployment)).toEqual([]);
    await remove(budget);
  });

  it('is told of on the bus with each change, so that who sums up asks again', async () => {
    const since = new Date().toISOString();
    let told = 0;
    const bus = createEventBus(platform.bus, { logger: silentLogger });
    await bus.subscribe({
      topics: ['deployments'],
      group: 'test of budgets',
      from: 'earliest',
      onEvent: async (event) => {
        if (conforms(BudgetsChanged, event) && event.time >= since) told += 1;
      },
    });
    const { body } = await createOfWorkspace();
    await remove(body);
    await waitFor(() => told === 2, { what: 'both changes' });
    await bus.close();
  });

  it('is for no assistant, which belongs to a deployment', async () => {
    expect((await createOfWorkspace({ ...team, subject: 'assistant' })).status).toBe(422);
    expect((await createOfWorkspace({ ...team, subject_id: 'ada' })).status).toBe(422);
    const deployment = await createEmpty(platform);
    expect((await create(deployment, team)).status).toBe(422);
  });

  it('is refused to a caller whom access policies concern', async () => {
    const as = { bounded_by_policies: true };
    expect((await platform.call('POST', scope, { body: team, as })).status).toBe(403);
  });
});

describe('what is no budget is refused', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await createEmpty(platform);
  });

  it.each([
    ['without a cap', { tokens_max: undefined }],
    ['without a name', { name: '' }],
    ['of nobody', { subject: 'somebody' }],
    ['of the deployment for one alone', { subject: 'deployment', subject_id: 'ada' }],
    ['of what is no assistant', { subject: 'assistant', subject_id: 'echo' }],
    ['of no time', { period: 'week' }],
    ['of nothing', { tokens_max: 0 }],
    ['of half a token', { tokens_max: 1.5 }],
    ['beyond all numbers', { tokens_max: 1e15 }],
    ['with a status of another kind', { refusal_status: 403 }],
    ['with a name of control characters', { name: 'a\u0000b' }],
  ])('%s', async (_, change) => {
    expect(await create(deployment, { ...ours, ...change })).toMatchObject({
      status: 422,
      body: { detail: expect.anything() },
    });
    expect(await list(deployment)).toEqual([]);
  });

  it('when a change leaves no cap', async () => {
    const { body } = await create(deployment);
    expect((await patch(deployment, body, { tokens_max: null })).status).toBe(422);
    expect(await list(deployment)).toMatchObject([{ tokens_max: 1000 }]);
    await platform.call('DELETE', pathOf(deployment, body));
  });

  it('when a deployment has as many as it may', async () => {
    const statuses = await Promise.all(
      Array.from({ length: BUDGETS_MAX + 3 }, async () => (await create(deployment)).status),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(BUDGETS_MAX);
    expect(statuses.filter((status) => status === 400)).toHaveLength(3);
  });
});
