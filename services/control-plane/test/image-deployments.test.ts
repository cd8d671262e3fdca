import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deployment, PushToken } from '@runyard/contracts';
import { ImageClient } from '@runyard/test-kit';
import { ENGINE, engineCalls, engineVariables } from '@runyard/test-kit/fake-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf } from './support/deployment-rows.ts';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
let engineFolder: string;
beforeAll(async () => {
  engineFolder = join(process.env.TMPDIR ?? '/tmp', `runyard-engine-${crypto.randomUUID()}`);
  const env = { CONTAINER_ENGINE_COMMAND: ENGINE, ...engineVariables(engineFolder) };
  // The engine inherits the variables of the process.
  platform = await TestPlatform.start(env, { hasOwnProcess: true, hasRegistry: true });
});
afterAll(async () => {
  await platform.close();
  const { rm } = await import('node:fs/promises');
  await rm(engineFolder, { recursive: true, force: true });
});

async function createEmpty(source: string): Promise<Deployment> {
  const { status, body } = await platform.create({ source, source_config: {} });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}

const createWithImage = async (): Promise<Deployment> =>
  (await platform.create({ source: 'external_docker', source_config: {}, source_revision_config: IMAGE })).body;
const IMAGE = { image_uri: 'registry.example.com/agent:1.0' };

const patch = (id: string, image_uri: string) =>
  platform.call<Deployment & { detail?: string }>('PATCH', `/v2/deployments/${id}`, {
    body: { source_revision_config: { image_uri } },
  });
const pushToken = (id: string, body?: object) =>
  platform.call<PushToken & { detail?: string }>('POST', `/v2/deployments/${id}/push-token`, { body });

describe("an image of the platform's registry", () => {
  it('is pushed with a push token, pulled with another one, and run', async () => {
    const { id } = await createEmpty('internal_docker');
    const { status, body } = await pushToken(id);
    expect([status, body.registry_url]).toEqual([200, `agents.example.com/registry/${id}`]);
    const named = await pushToken(id, { supports_registry_username: true });
    expect(named.body).toMatchObject({ username: 'oauth2accesstoken', registry_url: body.registry_url });
    const digest = await new ImageClient(platform.registryUrl, body.token).pushImage(`registry/${id}/agent`, 'latest');

    const imageUri = `${body.registry_url}/agent@${digest}`;
    const patched = await patch(id, imageUri);
    expect(patched.status).toBe(200);
    await platform.untilStatus(id, patched.body.latest_revision_id!, 'DEPLOYED');
    expect((await fetch(`${await platform.upstreamOf(id)}/ok`)).status).toBe(200);
    const calls = await engineCalls(engineFolder);
    const login = calls.find(({ args }) => args.includes('login'));
    expect(login?.args.at(-1)).toBe('agents.example.com');
    const pulling = new ImageClient(platform.registryUrl, login!.input!);
    expect((await pulling.send('GET', `/v2/registry/${id}/agent/manifests/latest`)).status).toBe(200);
    expect((await pulling.send('POST', `/v2/registry/${id}/agent/blobs/uploads/`)).status).toBe(403);
    expect(calls.some(({ args }) => args.includes('pull') && args.includes(imageUri))).toBe(true);

    expect((await platform.call('DELETE', `/v2/deployments/${id}`)).status).toBe(204);
    expect(await readdir(join(platform.folder, 'objects/registry')).catch(() => [])).not.toContain(id);
    expect(await readdir(join(engineFolder, 'containers'))).toEqual([]);
  });

  it('is pushed with one password by a client that repeats its request with its key', async () => {
    const { id } = await createEmpty('internal_docker');
    const headers = { ...(await platform.callers.headers()), 'idempotency-key': crypto.randomUUID() };
    const ask = () => platform.call<PushToken>('POST', `/v2/deployments/${id}/push-token`, { headers });
    const first = await ask();
    expect(first.status).toBe(200);
    expect(await ask()).toEqual(first);
    expect((await pushToken(id)).body.token).not.toBe(first.body.token);
  });

  it('can be used only by its own deployment', async () => {
    const [one, other] = [await createEmpty('internal_docker'), await createWithImage()];
    const foreign = await patch(one.id, `agents.example.com/registry/${other.id}/agent:latest`);
    expect([foreign.status, foreign.body.detail]).toEqual([
      400,
      expect.stringMatching(/must be below agents\.example\.com/),
    ]);
    expect((await patch(other.id, `agents.example.com/registry/${one.id}/agent:latest`)).status).toBe(400);
    expect((await patch(other.id, '--privileged')).status).toBe(400);
    expect((await pushToken(other.id)).body.detail).toMatch(/only available for 'internal_docker' source deployments/);
  });
});

it('an image that is not built from the base image fails to deploy, with advice, and pauses no crons', async () => {
  const { id, latest_revision_id } = await createWithImage();
  await platform.untilStatus(id, latest_revision_id!, 'DEPLOYED');
  const { body } = await patch(id, 'registry.example.com/foreign:v1');
  const failed = await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOY_FAILED');
  expect(failed.status_message).toMatch(/--base-image runyard\/agent-server:20/);
  const rows = await rowsOf(platform, { id }, 'SELECT failed_revision FROM deployment');
  expect(rows).toEqual([{ failed_revision: null }]);
});
