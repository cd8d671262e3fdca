import { WorkspaceDeleted } from '@runyard/contracts';
import { createEventBus, type EventBus, makeEvent } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORGANIZATION, OTHER_WORKSPACE, WORKSPACE } from './support/callers.ts';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
let bus: EventBus;
beforeAll(async () => {
  platform = await TestPlatform.start();
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

describe('the deployments of a workspace', () => {
  it('are deleted with it, when an event tells so and org-access confirms it', async () => {
    const { id } = (await platform.create()).body;
    await publish(WORKSPACE);
    await publish(OTHER_WORKSPACE);
    const barrier = (await platform.create()).body;
    expect(await isGone(barrier.id)).toBe(false);
    platform.callers.deletedWorkspaces.add(WORKSPACE);
    await publish(WORKSPACE);
    await waitFor(async () => (await isGone(id)) && (await isGone(barrier.id)), { what: 'the end of the deployments' });
    platform.callers.deletedWorkspaces.clear();
  });

  it('are deleted when the event was lost, as soon as the service asks by itself', async () => {
    const { id } = (await platform.create()).body;
    const headers = await platform.callers.headers({ workspace_id: OTHER_WORKSPACE });
    const other = await platform.call<{ id: string }>('POST', '/v2/deployments', {
      headers,
      body: {
        name: 'of another workspace',
        source: 'local_directory',
        source_config: { project_path: platform.projectDir },
        source_revision_config: {},
      },
    });
    await platform.stopService();
    platform.callers.deletedWorkspaces.add(OTHER_WORKSPACE);
    await platform.startService();
    await waitFor(() => isGone(other.body.id, OTHER_WORKSPACE), { what: 'the end of the deployment' });
    expect(await isGone(id)).toBe(false);
  });
});
