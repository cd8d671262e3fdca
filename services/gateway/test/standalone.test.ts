import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startServiceProcess, type TestServiceProcess } from '@runyard/test-kit';
import { INTERNAL_TOKEN } from '@runyard/test-kit/fake-platform';
import { afterEach, describe, expect, it } from 'vitest';

const entry = fileURLToPath(new URL('../src/main.ts', import.meta.url));
/** The rest of the platform is down. */
const env = {
  ORG_ACCESS_URL: 'http://127.0.0.1:1',
  CONTROL_PLANE_URL: 'http://127.0.0.1:1',
  EVENT_BUS: 'redis',
  EVENT_BUS_REDIS_URI: 'redis://127.0.0.1:1',
};
const secrets = { INTERNAL_TOKEN };

describe('the gateway as a process of its own', () => {
  let service: TestServiceProcess | undefined;
  let taken: Server | undefined;
  afterEach(async () => {
    await service?.stop();
    await new Promise((resolve) => (taken ? taken.close(resolve) : resolve(undefined)));
    taken = undefined;
  });

  it('starts alone from its folder, is live but not ready, and ends cleanly', async () => {
    service = await startServiceProcess({ entry, env, secrets });
    expect(await (await fetch(`${service.url}/ok`)).json()).toEqual({ ok: true, services: {} });
    expect((await fetch(`${service.url}/ok?check_db=1`)).status).toBe(503);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.output()).not.toContain(INTERNAL_TOKEN);
  });

  it('reports in one sentence per variable what its configuration lacks, and ends with code 78', async () => {
    service = await startServiceProcess({ entry, env: { RATE_LIMIT_RPS: 'many' }, readyPath: null });
    expect(await service.exited).toEqual({ code: 78, signal: null });
    expect(service.output().trim().split('\n').sort()).toEqual([
      'gateway: CONTROL_PLANE_URL is required. Base URL of control-plane.',
      'gateway: INTERNAL_TOKEN is required. Secret shared by the services of one platform; `openssl rand -hex 32` makes one.',
      'gateway: ORG_ACCESS_URL is required. Base URL of org-access.',
      'gateway: RATE_LIMIT_RPS must be a number.',
    ]);
  });

  it('reports which bus variable is missing', async () => {
    service = await startServiceProcess({ entry, env: { ...env, EVENT_BUS: 'kafka' }, secrets, readyPath: null });
    expect((await service.exited).code).toBe(78);
    expect(service.output()).toContain('gateway: KAFKA_BROKERS is required with EVENT_BUS=kafka.');
  });

  it('reports that its port is taken, and ends with code 1', async () => {
    taken = createServer();
    const { port } = await new Promise<{ port: number }>((resolve) => {
      taken!.listen(0, '127.0.0.1', () => resolve(taken!.address() as { port: number }));
    });
    service = await startServiceProcess({ entry, env: { ...env, PORT: String(port) }, secrets, readyPath: null });
    expect((await service.exited).code).toBe(1);
    expect(service.output()).toContain(`Port ${port} on 127.0.0.1 is taken; set PORT to another one.`);
  });
});
