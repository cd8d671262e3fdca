import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  createTestDatabase,
  FaultLine,
  startServiceProcess,
  type TestServiceProcess,
  testRedis,
  waitFor,
} from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { ask } from './raw-http.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

it('a deployment starts before its servers: it is alive at once, ready when it can work, and ends on request meanwhile', async () => {
  const database = await createTestDatabase(here('../../../packages/run-engine/prisma/migrations'));
  const redis = testRedis();
  const lines = [await FaultLine.to(database.url), await FaultLine.to(redis.url)];
  await Promise.all(lines.map((line) => line.refuse()));
  const start = (entry: string) =>
    startServiceProcess({
      entry: here(entry),
      readyPath: '/ok',
      env: {
        REDIS_KEY_PREFIX: redis.prefix,
        EVENT_BUS: 'redis',
        TOPIC_PREFIX: redis.prefix,
        PROJECT_DIR: here('../../../e2e/projects/probe'),
        DEPLOYMENT_ID: randomUUID(),
        REVISION_ID: 'one',
        RUNYARD_AUTH: 'none',
      },
      secrets: { DATABASE_URI: lines[0]!.url, REDIS_URI: lines[1]!.url },
    });
  const services = await Promise.all(['../src/main.ts', '../../run-worker/src/main.ts'].map(start));
  const [agentApi, worker] = services as [TestServiceProcess, TestServiceProcess];
  const readiness = async ({ url }: TestServiceProcess) => (await ask(`${url}/ok?check_db=1`)).status;
  try {
    for (const service of services) expect(await readiness(service)).toBe(503);
    expect(await ask(`${agentApi.url}/threads`, { body: {} })).toMatchObject({
      status: 503,
      json: { detail: 'The service is starting' },
      headers: { 'retry-after': '1', 'x-runyard-untouched': 'starting' },
    });
    await waitFor(() => worker.output().includes('waiting for the database'), { what: 'the worker to wait' });
    expect((await worker.stop()).code).toBe(0);
    await Promise.all(lines.map((line) => line.heal()));
    await waitFor(async () => (await readiness(agentApi)) === 200, {
      what: 'agent-api to be ready',
    });
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all(lines.map((line) => line.close()));
    await Promise.all([database.close(), redis.close()]);
  }
});
