import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start();
});
afterAll(() => platform.close());

describe('creating a deployment', () => {
  it('answers 201 with a first revision that becomes DEPLOYED', async () => {
    const { status, body } = await platform.create({ name: 'first' });
    expect(status).toBe(201);
    expect(body.latest_revision_id).toEqual(expect.any(String));
    const revision = await platform.untilStatus(body.id, body.latest_revision_id!, 'DEPLOYED');
    expect(revision.status_message).toBeNull();
    expect((await platform.get(body.id)).body).toMatchObject({ status: 'READY', active_revision_id: revision.id });
  });
});
