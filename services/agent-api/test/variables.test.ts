import { fileURLToPath } from 'node:url';
import { startServiceProcess } from '@runyard/test-kit';
import { expect, it } from 'vitest';

const entry = fileURLToPath(new URL('../src/main.ts', import.meta.url));

it('variables of other agent servers are understood, and those without effect are named', async () => {
  const service = await startServiceProcess({
    entry,
    env: {
      PROJECT_DIR: '.',
      POSTGRES_URI: 'postgres://127.0.0.1:1/x',
      REDIS_URI_CUSTOM: 'redis://127.0.0.1:1',
      LOG_LEVEL: 'WARNING',
      DD_API_KEY: 'k',
    },
    readyPath: null,
  });
  expect((await service.exited).code).toBe(78);
  expect(service.output()).toContain('The variable DD_API_KEY has no effect on the platform');
  // Everything else was set: only the setting of callers is missing.
  expect(service.output()).toContain('PLATFORM_JWKS_URL');
  expect(service.output()).not.toContain('is required');
});

it('each wrong value is reported in a line', async () => {
  const env = { PROJECT_DIR: '.', LANGGRAPH_POSTGRES_POOL_MAX_SIZE: 'many', LOG_LEVEL: 'loud', METRIC_PREFIX: '1-' };
  const service = await startServiceProcess({ entry, env, readyPath: null });
  expect((await service.exited).code).toBe(78);
  for (const name of ['DATABASE_POOL_SIZE', 'LOG_LEVEL', 'METRIC_PREFIX', 'DATABASE_URI', 'REDIS_URI']) {
    expect(service.output()).toMatch(new RegExp(`^agent-api: ${name} .*\\.`, 'm'));
  }
});
