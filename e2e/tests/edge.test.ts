import { describe, expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';

const { url, deploymentUrl, apiKey } = inject('platform');

async function json(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

describe('the edge', () => {
  it('answers /ok without a key and nothing else', async () => {
    expect((await fetch(`${url}/ok`)).status).toBe(200);
    expect((await fetch(`${deploymentUrl}/ok`)).status).toBe(200);
    const refused = await fetch(`${deploymentUrl}/threads`, { method: 'POST', body: '{}' });
    expect(refused.status).toBe(401);
    expect(await json(refused)).toEqual({ detail: expect.any(String) });
    expect((await fetch(`${deploymentUrl}/metrics`)).status).toBe(401);
  });

  it('takes the key as bearer too', async () => {
    const response = await fetch(`${deploymentUrl}/threads`, {
      method: 'POST',
      body: '{}',
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(response.status).toBe(200);
  });

  it('answers the same for a deployment that does not exist, whoever asks', async () => {
    const missing = await fetch(`${url}/deployments/00000000-0000-4000-8000-000000000000/info`, {
      headers: { 'x-api-key': apiKey },
    });
    expect(missing.status).toBe(404);
    expect(await json(missing)).toEqual({ detail: expect.any(String) });
  });

  it('answers an unknown path with JSON', async () => {
    const response = await fetch(`${deploymentUrl}/no/such/path`, { headers: { 'x-api-key': apiKey } });
    expect(response.status).toBe(404);
    expect(await json(response)).toEqual({ detail: 'Not Found' });
  });

  it('refuses a body that is no JSON, naming the fault', async () => {
    const response = await fetch(`${deploymentUrl}/threads`, {
      method: 'POST',
      body: '{',
      headers: { 'x-api-key': apiKey },
    });
    expect(response.status).toBe(422);
    expect(await json(response)).toEqual({ detail: 'Invalid JSON in request body' });
  });

  it('has the id of real servers for the default assistant of a graph', async () => {
    const [assistant] = await newClient().assistants.search({ graphId: 'echo', metadata: { created_by: 'system' } });
    expect(assistant?.assistant_id).toBe('046b5dc7-2108-582c-9c6c-31d556d138f0');
  });
});

describe('a revoked key', () => {
  it('is refused everywhere', async () => {
    const admin = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const created = await json(
      await fetch(`${url}/api/v1/orgs/current/service-keys`, {
        method: 'POST',
        headers: admin,
        body: '{"description":"short-lived"}',
      }),
    );
    const second = newClient({ apiKey: String(created.key) });
    await second.threads.create();

    const revoked = await fetch(`${url}/api/v1/orgs/current/service-keys/${created.id}`, {
      method: 'DELETE',
      headers: admin,
    });
    expect(revoked.ok).toBe(true);
    await expect
      .poll(
        () =>
          second.threads.create().then(
            () => 200,
            (error: { status: number }) => error.status,
          ),
        { interval: 100 },
      )
      .toBe(401);
  });
});
