import { randomUUID } from 'node:crypto';
import { type Deployment, type DeploymentCount, type Listener, WorkspaceDeleted } from '@runyard/contracts';
import { createEventBus, type EventBus, makeEvent } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { ORGANIZATION, OTHER_WORKSPACE, WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { INTERNAL_TOKEN } from './support/credentials.ts';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
let bus: EventBus;
beforeAll(async () => {
  platform = await TestPlatform.start({ OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' });
  bus = createEventBus(platform.bus, { logger: silentLogger });
});
afterAll(async () => {
  await bus?.close();
  await platform.close();
});

const publish = (workspaceId: string) =>
  bus.publish('organizations', [
    {
      key: ORGANIZATION,
      event: makeEvent(WorkspaceDeleted, {
        source: '/runyard/test',
        subject: ORGANIZATION,
        data: { organization_id: ORGANIZATION, workspace_id: workspaceId },
      }),
    },
  ]);
const isGone = async (id: string, workspace = WORKSPACE) => {
  const headers = await platform.callers.headers({ workspace_id: workspace });
  return (await platform.call('GET', `/v2/deployments/${id}`, { headers })).status === 404;
};

/** Makes org-access say that a workspace was deleted, until the test ends. */
function deleteWorkspace(id: string): void {
  platform.callers.deletedWorkspaces.add(id);
  onTestFinished(() => platform.callers.deletedWorkspaces.clear());
}

/** Counts the rows that name a workspace, in every table that can. */
const countRows = (workspaceId: string): Promise<Record<string, number>> =>
  withDatabaseClient(platform.database.url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'workspace_id'",
    );
    const counts = tables.map(
      ({ name }) => `SELECT '${name}' AS name, count(*)::int FROM "${name}" WHERE workspace_id = $1`,
    );
    const { rows } = await client.query<{ name: string; count: number }>(counts.join(' UNION ALL '), [workspaceId]);
    return Object.fromEntries(rows.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]));
  });

describe('the deployments of a workspace', () => {
  it('are deleted with it, when an event tells so and org-access confirms it', async () => {
    const { id } = (await platform.create()).body;
    await publish(WORKSPACE);
    await publish(OTHER_WORKSPACE);
    const barrier = (await platform.create()).body;
    expect(await isGone(barrier.id)).toBe(false);
    deleteWorkspace(WORKSPACE);
    await publish(WORKSPACE);
    await waitFor(async () => (await isGone(id)) && (await isGone(barrier.id)), { what: 'the end of the deployments' });
  });

  it('are deleted when the event was lost, as soon as the service asks by itself', async () => {
    const { id } = (await platform.create()).body;
    const as = { workspace_id: OTHER_WORKSPACE };
    const other = await platform.call<Deployment>('POST', '/v2/deployments', {
      as,
      body: {
        name: 'of another workspace',
        source: 'local_directory',
        source_config: { project_path: platform.projectDir },
        source_revision_config: {},
      },
    });
    await platform.stopService();
    deleteWorkspace(OTHER_WORKSPACE);
    await platform.startService();
    await waitFor(() => isGone(other.body.id, OTHER_WORKSPACE), { what: 'the end of the deployment' });
    expect(await isGone(id)).toBe(false);
  });
});

describe('a deleted workspace', () => {
  it('leaves nothing: integrations, listeners and generations of agents go, and those of another one stay', async () => {
    const body = { name: 'git', url: 'http://127.0.0.1:9', token: 'x' };
    const [workspace, stays] = [randomUUID(), randomUUID()];
    for (const workspace_id of [workspace, stays]) {
      const as = { workspace_id };
      expect((await platform.call('POST', '/v1/integrations/github/install', { body, as })).status).toBe(201);
      await listen(workspace_id);
      await withDatabaseClient(platform.database.url, (client) =>
        client.query("INSERT INTO agent_generation VALUES ($1, 'agent', 1)", [workspace_id]),
      );
    }
    const kept = await countRows(stays);
    expect(kept).toEqual({ agent_generation: 1, github_integration: 1, listener: 1 });
    deleteWorkspace(workspace);
    await publish(workspace);
    await waitFor(async () => (await countRows(workspace)).listener === undefined, { what: 'the end of the listener' });
    expect(await countRows(workspace)).toEqual({});
    expect(await countRows(stays)).toEqual(kept);
  });

  it('keeps a listener until its data plane has removed its deployments, at most for an hour', async () => {
    const workspace = randomUUID();
    const as = { workspace_id: workspace };
    const [there, silent] = [await listen(workspace), await listen(workspace)];
    const [removed, left] = [await deployOn(there, as), await deployOn(silent, as)];
    const lease = `/v2/listeners/${there.id}`;
    const { body } = await platform.call<{ epoch: number }>('POST', `${lease}/lease`, {
      as,
      body: { instance_id: randomUUID(), version: '1.2.3' },
    });
    expect(await countDeployments(workspace)).toBe(2);
    expect(await countDeployments(workspace, removed.id)).toBe(1);
    expect(await countDeployments(workspace, randomUUID())).toBe(0);
    deleteWorkspace(workspace);
    await publish(workspace);
    for (const { id } of [removed, left]) {
      const isDeleting = async () =>
        (await platform.call<Deployment>('GET', `/v2/deployments/${id}`, { as })).body.status === 'AWAITING_DELETE';
      await waitFor(isDeleting, { what: 'the deletion of the deployments' });
    }
    expect(await countRows(workspace)).toEqual({ deployment: 2, deployment_address: 4, listener: 2 });
    expect(await countDeployments(workspace)).toBe(0);

    await platform.call('POST', `${lease}/deployments/${removed.id}/status`, {
      as,
      body: { epoch: body.epoch, status: 'DELETED' },
    });
    await publish(workspace);
    await waitFor(async () => (await countRows(workspace)).listener === 1, { what: 'the end of the first listener' });
    expect(await countRows(workspace)).toEqual({ deployment: 1, deployment_address: 4, listener: 1 });
    await withDatabaseClient(platform.database.url, (client) =>
      client.query("UPDATE deployment SET delete_requested_at = now() - interval '61 minutes' WHERE id = $1", [
        left.id,
      ]),
    );
    await publish(workspace);
    await waitFor(async () => (await countRows(workspace)).listener === undefined, { what: 'the end of the second' });
    // No other workspace gets the addresses of its deployments.
    expect(await countRows(workspace)).toEqual({ deployment_address: 4 });
  });
});

/** Asks as org-access does. */
async function countDeployments(workspace_id: string, deployment_id?: string): Promise<number> {
  const headers = { authorization: `Bearer ${INTERNAL_TOKEN}`, 'content-type': 'application/json' };
  const body = { organization_id: ORGANIZATION, workspace_id, deployment_id };
  const answer = await platform.call<DeploymentCount>('POST', '/internal/deployments/count', { headers, body });
  return answer.body.count;
}

async function listen(workspace_id: string): Promise<Listener> {
  const answer = await platform.call<Listener>('POST', '/v2/listeners', {
    as: { workspace_id },
    body: { compute_type: 'process', compute_id: randomUUID(), compute_config: {} },
  });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function deployOn(listener: Listener, as: { workspace_id: string }): Promise<Deployment> {
  const answer = await platform.call<Deployment>('POST', '/v2/deployments', {
    as,
    body: {
      name: listener.compute_id,
      source: 'local_directory',
      source_config: { project_path: '/srv/there', listener_id: listener.id },
      source_revision_config: {},
    },
  });
  expect(answer.status).toBe(201);
  return answer.body;
}
