import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start({ DRIVER: 'container' }, { hasRegistry: true });
});
afterAll(() => platform?.close());

it('a project becomes an image where DRIVER names no driver that runs projects', async () => {
  const { body } = await platform.create();
  const revision = await platform.untilStatus(body.id, body.latest_revision_id!, 'BUILD_FAILED');
  expect(revision.status_message).toMatch(/is to run as an image, and PROJECT_BASE_IMAGE/);
});
