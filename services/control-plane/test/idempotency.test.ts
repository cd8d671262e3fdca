import { randomUUID } from 'node:crypto';
import type { Deployment, DeploymentList, Revision, RevisionList, UploadUrl } from '@runyard/contracts';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { createEmpty } from './support/sources.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start();
});
afterAll(() => platform.close());

async function post<Body>(path: string, key: string, body: unknown, as: { workspace_id?: string } = {}) {
  const headers = { ...(await platform.callers.headers(as)), 'idempotency-key': key };
  return platform.call<Body>('POST', path, { body, headers });
}
const aDeployment = (name: string) => ({
  name,
  source: 'local_directory',
  source_config: { project_path: platform.projectDir },
  source_revision_config: {},
  secrets: [{ name: 'MODEL_KEY', value: 'never in the clear' }],
});
const named = async (name: string) =>
  (await platform.call<DeploymentList>('GET', `/v2/deployments?name=${name}`)).body.resources;

describe('a creation that is repeated with its key', () => {
  it('creates one deployment and answers 201 with it each time, whatever its status', async () => {
    const [key, body] = [randomUUID(), aDeployment('once')];
    const answers = await Promise.all(Array.from({ length: 6 }, () => post<Deployment>('/v2/deployments', key, body)));
    const { id, latest_revision_id } = answers[0]!.body;
    await platform.untilStatus(id, latest_revision_id!, 'DEPLOYED');
    answers.push(await post<Deployment>('/v2/deployments', key, body));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 201, body: { name: 'once' } });
    expect(await named('once')).toHaveLength(1);
    expect(await platform.dump()).not.toContain('never in the clear');

    const refused = await post('/v2/deployments', key, aDeployment('another'));
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'idempotency-key'] }] } });
    // Without the key the name is taken. In another workspace the same key is a different one.
    expect((await platform.create({ name: 'once' })).status).toBe(400);
    const elsewhere = await post<Deployment>('/v2/deployments', key, body, { workspace_id: OTHER_WORKSPACE });
    expect(elsewhere.status).toBe(201);
    expect(elsewhere.body.id).not.toBe(id);
  });

  it('creates one revision, and redeploys an earlier one once', async () => {
    const { id, latest_revision_id: first } = await platform.createHealthy({ name: 'revised' });
    const revisions = async () =>
      (await platform.call<RevisionList>('GET', `/v2/deployments/${id}/revisions`)).body.resources.length;
    const keys = [randomUUID(), randomUUID()];
    const made = await Promise.all(
      [1, 2, 3].map(() => post<Revision>(`/v2/deployments/${id}/revisions`, keys[0]!, {})),
    );
    for (const answer of made) expect(answer).toEqual({ status: 201, body: made[0]!.body });
    expect(await revisions()).toBe(2);
    const redeploy = `/v2/deployments/${id}/revisions/${first}/redeploy`;
    const back = await Promise.all([1, 2, 3].map(() => post<Deployment>(redeploy, keys[1]!, undefined)));
    for (const answer of back) expect(answer).toEqual({ status: 200, body: back[0]!.body });
    expect(await revisions()).toBe(3);
  });

  it('returns the same upload URL', async () => {
    const deployment = await createEmpty(platform, { name: 'uploaded' });
    const [path, key] = [`/v2/deployments/${deployment.id}/upload-url`, randomUUID()];
    const given = await Promise.all([1, 2, 3].map(() => post<UploadUrl>(path, key, {})));
    for (const answer of given) expect(answer).toEqual({ status: 200, body: given[0]!.body });
    expect((await post<UploadUrl>(path, randomUUID(), {})).body).not.toEqual(given[0]!.body);
  });
});
