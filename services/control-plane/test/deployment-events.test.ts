import { once } from 'node:events';
import { type CloudEvent, conforms, type Deployment, DeploymentAuthModeChanged } from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start();
});
afterEach(() => platform.deleteAll());
afterAll(() => platform.close());

describe('the events of a deployment', () => {
  /** Returns all events of a deployment, until that of its deletion. */
  async function eventsUntilDeleted(id: string): Promise<CloudEvent<Record<string, unknown>>[]> {
    const events: CloudEvent<Record<string, unknown>>[] = [];
    const bus = createEventBus(platform.bus, { logger: silentLogger });
    const done = new EventTarget();
    await bus.subscribe({
      topics: ['deployments'],
      group: 'test',
      from: 'earliest',
      onEvent: async (event) => {
        if (event.subject !== id) return;
        events.push(event as CloudEvent<Record<string, unknown>>);
        if (event.type === 'runyard.deployment.deleted') done.dispatchEvent(new Event('deleted'));
      },
    });
    if (!events.some((event) => event.type === 'runyard.deployment.deleted')) await once(done, 'deleted');
    await bus.close();
    return events;
  }

  it('report every status and every route in order, and finally its removal', async () => {
    const { id, latest_revision_id } = await platform.createHealthy();
    const route = await platform.routeOf(id);
    await platform.call('DELETE', `/v2/deployments/${id}`);

    const events = await eventsUntilDeleted(id);
    const statuses = events.filter((event) => event.type === 'runyard.revision.status_changed');
    expect(statuses.map((event) => event.data)).toEqual(
      ['CREATING', 'QUEUED', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED'].map((status) => ({
        deployment_id: id,
        revision_id: latest_revision_id,
        status,
      })),
    );
    expect(events[0]).toMatchObject({
      type: 'runyard.deployment.created',
      data: { deployment_id: id, name: expect.any(String), workspace_id: expect.any(String) },
    });
    const routes = events.filter((event) => event.type === 'runyard.deployment.route_changed');
    expect(routes[0]?.data).toMatchObject({ upstreams: [], active_revision_id: null, version: 1 });
    expect(routes.map((event) => event.data)).toContainEqual(route);
    const versions = [...routes, events.at(-1)!].map((event) => event.data.version as number);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(versions.length);
  });

  it('report when the project begins to authenticate its callers itself, and when that ends', async () => {
    const makeProject = (auth: object) =>
      platform.makeProject('with-auth', { graphs: { agent: './agent.ts:graph' }, ...auth });
    const redeploy = async (value: string) => {
      const body = { secrets: [{ name: 'ROUND', value }] };
      const answer = await platform.call<Deployment>('PATCH', `/v2/deployments/${id}`, { body });
      await platform.untilStatus(id, answer.body.latest_revision_id!, 'DEPLOYED');
    };
    const project_path = await makeProject({ auth: { path: './auth.ts:auth' } });
    const { id } = await platform.createHealthy({ source_config: { project_path } });
    expect(await platform.routeOf(id)).toMatchObject({ has_custom_auth: true });
    await redeploy('second');
    await makeProject({});
    await redeploy('third');
    await platform.call('DELETE', `/v2/deployments/${id}`);
    const changes = (await eventsUntilDeleted(id)).filter(({ type }) => type.endsWith('auth_mode_changed'));
    expect(changes.map(({ data }) => data.auth_mode)).toEqual(['custom', 'platform']);
    expect(changes.every((event) => conforms(DeploymentAuthModeChanged, event))).toBe(true);
  });
});
