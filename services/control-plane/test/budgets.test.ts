import { BUDGETS_MAX, type Budget, type Deployment } from '@runyard/contracts';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
    await rowsOf(platform, deployment, 'INSERT INTO budget_use SELECT budget_id, 1 FROM budget');

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
