import { randomUUID } from 'node:crypto';
import { type AgentConnection, DeploymentDeleted, IdentityRemoved, WorkspaceDeleted } from '@runyard/contracts';
import { createEventBus, type EventBus, makeEvent } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { ORGANIZATION, WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { someone, TestBroker } from './support/broker.ts';

let broker: TestBroker;
let bus: EventBus;
beforeAll(async () => {
  broker = await TestBroker.start(['crm']);
  await broker.provider('crm');
  bus = createEventBus(broker.platform.bus, { logger: silentLogger });
});
afterEach(() => {
  broker.platform.controlPlane.isUnwell = false;
  broker.platform.callers.deletedWorkspaces.clear();
});
afterAll(async () => {
  await bus?.close();
  await broker.close();
});

const announceDeployment = (deployment_id: string) =>
  bus.publish('deployments', [
    {
      key: deployment_id,
      event: makeEvent(DeploymentDeleted, {
        source: '/runyard/test',
        subject: deployment_id,
        data: { deployment_id, organization_id: ORGANIZATION, workspace_id: WORKSPACE, version: 2 },
      }),
    },
  ]);
const announceWorkspace = (workspace_id: string) =>
  bus.publish('organizations', [
    {
      key: ORGANIZATION,
      event: makeEvent(WorkspaceDeleted, {
        source: '/runyard/test',
        subject: ORGANIZATION,
        data: { organization_id: ORGANIZATION, workspace_id },
      }),
    },
  ]);

const announceRemoved = (identity_id: string) =>
  bus.publish('organizations', [
    {
      key: ORGANIZATION,
      event: makeEvent(IdentityRemoved, {
        source: '/runyard/test',
        subject: ORGANIZATION,
        data: { organization_id: ORGANIZATION, identity_id },
      }),
    },
  ]);

const importFor = (agent: string, access_token: string, as = {}) =>
  broker.call(
    'POST',
    `/agents/${agent}/providers/crm/tokens`,
    { access_token, refresh_token: `r-${access_token}` },
    as,
  );
const listed = async (agent: string) =>
  (await broker.call<{ data: AgentConnection[] }>('GET', `/agents/${agent}/connections`)).body.data;
const countTokens = (): Promise<number> =>
  withDatabaseClient(broker.platform.database.url, async (client) => {
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int FROM oauth_token');
    return rows[0]!.count;
  });

describe('what was connected to a deployment', () => {
  it('ends with it, by its id and by the name of its agent, when an event tells so and control-plane confirms it', async () => {
    const { controlPlane } = broker.platform;
    const [deployment, stays] = [controlPlane.deploy('sales'), controlPlane.deploy('support')];
    await importFor(deployment.id.toUpperCase(), 'by-id');
    const granted = await broker.connect('crm', {}, someone());
    await importFor('sales', granted);
    await importFor('support', 'of-another');
    await importFor('an-assistant', 'of-no-deployment');
    const tokens = await countTokens();
    // The first event is not true: whoever can write to the bus must not be able to end anything.
    await announceDeployment(stays.id);
    controlPlane.delete(deployment.id);
    await announceDeployment(deployment.id);
    await waitFor(async () => (await countTokens()) === tokens - 2, { what: 'the end of the tokens' });
    expect([await listed(deployment.id.toUpperCase()), await listed('sales')]).toEqual([[], []]);
    expect([(await listed('support')).length, (await listed('an-assistant')).length]).toEqual([1, 1]);
    expect(await broker.server.isValidToken(granted)).toBe(false);
  });

  it('ends when the event was lost, as soon as the service asks by itself', async () => {
    const { controlPlane } = broker.platform;
    const deployment = controlPlane.deploy('lost');
    await importFor('lost', 'by-name');
    await broker.platform.stopService();
    controlPlane.delete(deployment.id);
    await broker.platform.startService();
    await waitFor(async () => (await listed('lost')).length === 0, { what: 'the end of the connection' });
  });

  it('is not for the next deployment of the name, and what is connected from then on is', async () => {
    const { controlPlane } = broker.platform;
    controlPlane.delete(controlPlane.deploy('again').id);
    await importFor('again', 'of-the-second');
    const [second, third] = [controlPlane.deploy('again'), controlPlane.deploy('again')];
    const ask = ({ token }: { token: string }) =>
      broker.authenticate('crm', { agent_id: 'again', scopes: [] }, { ...someone(), deployment: token });
    for (const deployment of [second, third])
      expect(await ask(deployment)).toMatchObject({ status: 'completed', token: 'of-the-second' });
    controlPlane.delete(second.id);
    expect((await ask(third)).status).toBe('completed');
    controlPlane.delete(third.id);
    expect((await ask(controlPlane.deploy('again'))).status).toBe('pending');
  });
});

describe('people who are removed', () => {
  it('leave no token when the event was lost, as soon as the service asks by itself', async () => {
    const [removed, stays] = [someone(), someone()];
    const token = await broker.connect('crm', {}, removed);
    await broker.connect('crm', {}, stays);
    await broker.platform.stopService();
    broker.platform.callers.removed.add(removed.sub!);
    await broker.platform.startService();
    await waitFor(async () => !(await broker.server.isValidToken(token)), { what: 'the end of the token' });
    const listed = async (as: object) => (await broker.call<unknown[]>('GET', '/tokens', undefined, as)).body;
    await waitFor(async () => (await listed(removed)).length === 0, { what: 'the end of its row' });
    expect(await listed(stays)).toHaveLength(1);
  });

  it('lose their tokens while control-plane is away, which is asked about other events', async () => {
    const removed = someone();
    await broker.connect('crm', {}, removed);
    broker.platform.controlPlane.isUnwell = true;
    for (let count = 0; count < 9; count++) await announceDeployment(randomUUID());
    broker.platform.callers.removed.add(removed.sub!);
    await announceRemoved(removed.sub!);
    const listed = async () => (await broker.call<unknown[]>('GET', '/tokens', undefined, removed)).body;
    await waitFor(async () => (await listed()).length === 0, { what: 'the end of the token' });
  });
});

describe('a control-plane that is away', () => {
  it('is said to be, to who shows a deployment token or connects an agent: nobody is refused for it', async () => {
    const { controlPlane } = broker.platform;
    const deployment = controlPlane.deploy();
    const alice = someone();
    controlPlane.isUnwell = true;
    const answer = { status: 503, body: { detail: 'Deployments cannot be asked for at the moment' } };
    expect(await broker.ask('crm', {}, { ...alice, deployment: deployment.token })).toEqual(answer);
    expect(await importFor('away', 'a-token')).toEqual(answer);
    expect((await broker.ask('crm', {}, alice)).status).toBe(200);
    controlPlane.isUnwell = false;
    expect((await broker.ask('crm', {}, { ...alice, deployment: deployment.token })).status).toBe(200);
  });
});

describe('a deleted workspace', () => {
  /** Counts the rows that name a workspace, in every table that can. */
  const countRows = (workspaceId: string): Promise<Record<string, number>> =>
    withDatabaseClient(broker.platform.database.url, async (client) => {
      const { rows: tables } = await client.query<{ name: string }>(
        "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'workspace_id'",
      );
      const counts = tables.map(
        ({ name }) => `SELECT '${name}' AS name, count(*)::int FROM "${name}" WHERE workspace_id = $1`,
      );
      const { rows } = await client.query<{ name: string; count: number }>(counts.join(' UNION ALL '), [workspaceId]);
      return Object.fromEntries(rows.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]));
    });

  it('leaves nothing: connections, tokens and authorizations go, and those of another one stay', async () => {
    const [workspace, stays] = [randomUUID(), randomUUID()];
    const before = await countTokens();
    for (const workspace_id of [workspace, stays]) {
      const as = { workspace_id };
      for (const agent of ['agent', 'bot']) expect((await importFor(agent, 'a', as)).status).toBe(201);
      await broker.authenticate('crm', {}, as);
    }
    // Flows of Slack give a workspace a token like this one.
    await withDatabaseClient(broker.platform.database.url, (client) =>
      client.query(
        `UPDATE oauth_token SET workspace_id = connection.workspace_id, owner = $1
         FROM oauth_agent_connection connection
         WHERE token_id = oauth_token.id AND agent_id = 'bot' AND connection.workspace_id = ANY($2::uuid[])`,
        [randomUUID(), [workspace, stays]],
      ),
    );
    const kept = await countRows(stays);
    expect(kept).toEqual({ oauth_agent_connection: 2, oauth_flow: 1, oauth_token: 1 });
    await announceWorkspace(stays);
    broker.platform.callers.deletedWorkspaces.add(workspace);
    await announceWorkspace(workspace);
    await waitFor(async () => Object.keys(await countRows(workspace)).length === 0, { what: 'the end of its rows' });
    expect(await countRows(stays)).toEqual(kept);
    // Tokens of agents name no workspace.
    expect(await countTokens()).toBe(before + 2);
  });
});
