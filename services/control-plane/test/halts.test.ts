import { randomBytes } from 'node:crypto';
import { conforms, type DataOf, type Deployment, HaltChanged, type HaltState, type Listener } from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { ALL_PERMISSIONS, OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf } from './support/deployment-rows.ts';
import { TestPlatform } from './support/platform.ts';
import { TestDataPlane } from './support/remote-data-plane.ts';
import { createEmpty } from './support/sources.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start();
});
afterEach(async () => {
  await Promise.all(['/v2/workspaces/current', '/v2/organizations/current'].map((scope) => resume(scope)));
  await platform.deleteAll();
});
afterAll(() => platform.close());

const REASON = 'the model leaks';
const admin = { permissions: [...ALL_PERMISSIONS, 'organization:manage'] };
const pathOf = ({ id }: Pick<Deployment, 'id'>) => `/v2/deployments/${id}`;
const halt = (scope: string, body: object = { reason: REASON }) =>
  platform.call<HaltState>('POST', `${scope}/halt`, { body, as: admin });
const resume = (scope: string) => platform.call<HaltState>('POST', `${scope}/resume`, { as: admin });
const stateOf = async (scope: string) => (await platform.call<HaltState>('GET', `${scope}/halt`, { as: admin })).body;

const reasonIn = async (deployment: Pick<Deployment, 'id'>) =>
  (await rowsOf(platform, deployment, 'SELECT halt_reason FROM deployment'))[0]?.halt_reason;

describe('halting a deployment', () => {
  it('is in its database when it is answered, says what runs still, and ends with its resume', async () => {
    const deployment = await platform.createHealthy();
    await rowsOf(platform, deployment, "INSERT INTO run VALUES ('running'), ('pending')");
    const { status, body } = await halt(pathOf(deployment), { reason: REASON, queued: 'cancel' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        is_halted: true,
        halts: [{ scope: 'deployment', reason: REASON, queued: 'cancel' }],
        ...{ deployments: 1, reached: 1, runs_cancelled: 0, runs_in_flight: 1, runs_queued: 1, not_reached: [] },
      },
    });
    expect(await rowsOf(platform, deployment, 'SELECT halt_reason, halt_cancels_queued FROM deployment')).toEqual([
      { halt_reason: REASON, halt_cancels_queued: true },
    ]);
    // The agent server has cancelled both.
    await rowsOf(platform, deployment, "UPDATE run SET status = 'interrupted'");
    await rowsOf(platform, deployment, 'UPDATE deployment SET halt_cancelled_runs = 2');
    await waitFor(async () => (await stateOf(pathOf(deployment))).runs_cancelled === 2, { what: 'the cancelled runs' });
    expect((await stateOf(pathOf(deployment))).runs_in_flight).toBe(0);
    expect((await halt(pathOf(deployment), { reason: REASON, queued: 'cancel' })).body.halts).toEqual(body.halts);
    expect((await resume(pathOf(deployment))).body).toMatchObject({ is_halted: false, halts: [], reached: 1 });
    expect(await reasonIn(deployment)).toBeNull();
    expect((await resume(pathOf(deployment))).status).toBe(200);
  });

  it('counts waiting runs that its servers cancel, also when none is running', async () => {
    const deployment = await platform.createHealthy();
    await rowsOf(platform, deployment, "INSERT INTO run VALUES ('pending')");
    const { body } = await halt(pathOf(deployment), { reason: REASON, queued: 'cancel' });
    expect(body).toMatchObject({ runs_in_flight: 0, runs_queued: 1, runs_cancelled: 0 });
    await rowsOf(platform, deployment, "UPDATE run SET status = 'interrupted'");
    await waitFor(async () => (await stateOf(pathOf(deployment))).runs_queued === 0, { what: 'the empty queue' });
  });

  it('is told to the audit trail once for each change, with who made it and from where', async () => {
    const deployment = await createEmpty(platform);
    const told: DataOf<typeof HaltChanged>[] = [];
    const bus = createEventBus(platform.bus, { logger: silentLogger });
    await bus.subscribe({
      topics: ['deployments'],
      group: 'test',
      from: 'earliest',
      onEvent: async (event) => {
        if (conforms(HaltChanged, event) && event.subject === deployment.id) told.push(event.data);
      },
    });
    await halt(pathOf(deployment));
    await halt(pathOf(deployment));
    await halt(pathOf(deployment), { reason: 'another', queued: 'cancel' });
    await resume(pathOf(deployment));
    await waitFor(() => told.at(-1)?.after === null, { what: 'the last event' });
    await bus.close();
    const [first, second] = [
      { reason: REASON, queued: 'keep' },
      { reason: 'another', queued: 'cancel' },
    ];
    expect(told.map(({ before, after }) => [before, after])).toEqual([
      [null, first],
      [first, second],
      [second, null],
    ]);
    expect(told.at(-1)).toMatchObject({
      deployment_id: deployment.id,
      workspace_id: deployment.tenant_id,
      origin: { operation: 'resumeDeployment', request_path: '/v2/deployments/{deployment_id}/resume' },
    });
  });

  it('survives a restart of the platform, a new revision, and a loss of the row in its database', async () => {
    const deployment = await platform.createHealthy();
    await halt(pathOf(deployment));
    const body = { secrets: [{ name: 'GREETING', value: 'two' }] };
    const patched = (await platform.call<Deployment>('PATCH', pathOf(deployment), { body })).body;
    await platform.untilStatus(deployment.id, patched.latest_revision_id!, 'DEPLOYED');
    expect(await reasonIn(deployment)).toBe(REASON);
    await platform.stopService();
    await rowsOf(platform, deployment, 'UPDATE deployment SET halt_reason = NULL');
    await platform.startService();
    await waitFor(async () => (await reasonIn(deployment)) === REASON, { what: 'the halt again' });
  });

  it('is reported as not reached where the agent server of the deployment knows no halts', async () => {
    const deployment = await platform.createHealthy({ secrets: [{ name: 'IS_OLD', value: '1' }] });
    const { body } = await halt(pathOf(deployment));
    expect(body).toMatchObject({ is_halted: true, deployments: 1, reached: 0 });
    const message = expect.stringContaining('earlier release');
    expect(body.not_reached).toEqual([
      { deployment_id: deployment.id, name: deployment.name, listener_id: null, message },
    ]);
  });

  it('needs its permission, a reason in one line, and a deployment of the workspace', async () => {
    const deployment = await createEmpty(platform);
    const call = (body: object, as = {}) =>
      platform.call('POST', `${pathOf(deployment)}/halt`, { body, as: { ...admin, ...as } });
    const permissions = ALL_PERMISSIONS.filter((name) => name !== 'deployments:halt');
    expect((await call({ reason: REASON }, { permissions })).status).toBe(403);
    expect((await call({ reason: REASON }, { workspace_id: OTHER_WORKSPACE })).status).toBe(404);
    for (const body of [
      {},
      { reason: '' },
      { reason: 'a\nb' },
      { reason: 'a'.repeat(501) },
      { reason: 'a', queued: 'x' },
    ])
      expect((await call(body)).status, JSON.stringify(body)).toBe(422);
    expect(await stateOf(pathOf(deployment))).toMatchObject({ is_halted: false });
  });
});

describe('halting a workspace or an organization', () => {
  it('halts all its deployments and those made later, and its resume leaves one halted that was so itself', async () => {
    const [one, other] = await Promise.all([platform.createHealthy(), platform.createHealthy()]);
    await halt(pathOf(one), { reason: 'its own' });
    expect((await halt('/v2/workspaces/current')).body).toMatchObject({ deployments: 2, reached: 2 });
    const later = await platform.createHealthy();
    for (const each of [one, other, later]) expect(await reasonIn(each)).toBe(REASON);
    expect((await stateOf(pathOf(one))).halts.map(({ scope }) => scope)).toEqual(['workspace', 'deployment']);
    expect((await resume('/v2/workspaces/current')).body).toMatchObject({ is_halted: false, reached: 3 });
    expect([await reasonIn(one), await reasonIn(other), await reasonIn(later)]).toEqual(['its own', null, null]);
  });

  it('of the organization reaches all workspaces, and needs the permission to manage it', async () => {
    const deployment = await platform.createHealthy();
    expect((await platform.call('POST', '/v2/organizations/current/halt', { body: { reason: REASON } })).status).toBe(
      403,
    );
    const as = { ...admin, workspace_id: OTHER_WORKSPACE };
    const body = { reason: REASON };
    expect(await platform.call('POST', '/v2/organizations/current/halt', { body, as })).toMatchObject({ status: 200 });
    expect(await reasonIn(deployment)).toBe(REASON);
    expect((await resume(pathOf(deployment))).body).toMatchObject({ is_halted: true });
    expect(await reasonIn(deployment)).toBe(REASON);
  });
});

describe('halting a deployment that a remote data plane runs', () => {
  it('is reported as not reached while the data plane is cut off, and reaches it afterwards', async () => {
    const compute = { compute_type: 'process', compute_config: {}, compute_id: randomBytes(4).toString('hex') };
    const { body: listener } = await platform.call<Listener>('POST', '/v2/listeners', { body: compute });
    const dataPlane = await TestDataPlane.of(platform, listener);
    try {
      await dataPlane.start();
      const deployment = await platform.createHealthy({
        source_config: { project_path: platform.projectDir, listener_id: listener.id },
      });
      expect((await halt(pathOf(deployment))).body).toMatchObject({ deployments: 1, reached: 1 });
      await dataPlane.line.refuse();
      const { body } = await resume(pathOf(deployment));
      expect(body).toMatchObject({ is_halted: false, reached: 0, not_reached: [{ listener_id: listener.id }] });
      await dataPlane.line.heal();
      await waitFor(async () => (await stateOf(pathOf(deployment))).reached === 1, { what: 'the resume' });
      await platform.deleteAll();
    } finally {
      await dataPlane.close();
    }
  });
});
