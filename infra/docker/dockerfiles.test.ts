import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, startServiceProcess, type TestDatabase, testRedis } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltImage, ImageBuilder } from './build-without-engine.ts';
import { parseDockerfile } from './dockerfile.ts';

const repository = join(import.meta.dirname, '../..');
const project = join(repository, 'e2e/projects/probe');
const runPath = join(repository, 'packages/run-engine/prisma/migrations');

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

const images = new ImageBuilder(repository);
// The stage that they share takes nearly all of the time: it installs the packages of all services and builds them.
beforeAll(async () => {
  await build('gateway');
});
afterAll(() => images.close());

const build = (service: string): Promise<BuiltImage> => images.build(`services/${service}/Dockerfile`);

async function database(migrations?: string): Promise<string> {
  const created: TestDatabase = await createTestDatabase(migrations);
  closings.push(() => created.close());
  return created.url;
}

/** The environment of a service that runs alone: its neighbours have addresses and do not exist. */
const environments: Record<string, () => Promise<Record<string, string>>> = {
  gateway: async () => ({ ORG_ACCESS_URL: nowhere, CONTROL_PLANE_URL: nowhere }),
  'org-access': async () => ({ DATABASE_URI: await database() }),
  'control-plane': async () => ({
    DATABASE_URI: await database(),
    REDIS_URI: testRedis().url,
    DATA_PLANE_KEY: randomBytes(32).toString('hex'),
    ORG_ACCESS_URL: nowhere,
    REGISTRY_SERVICE_URL: nowhere,
    PUBLIC_URL: nowhere,
    DATA_DIR: dataFolder(),
  }),
  'data-plane': async () => ({
    DATA_POSTGRES_URI: await database(),
    DATA_REDIS_URI: testRedis().url,
    DATA_PLANE_KEY: randomBytes(32).toString('hex'),
    CONTROL_PLANE_URL: nowhere,
    PUBLIC_URL: nowhere,
    DATA_DIR: dataFolder(),
  }),
  builder: async () => ({
    REDIS_URI: testRedis().url,
    CONTROL_PLANE_URL: nowhere,
    REGISTRY_SERVICE_URL: nowhere,
    DATA_DIR: dataFolder(),
  }),
  registry: async () => ({
    DATABASE_URI: await database(),
    CONTROL_PLANE_URL: nowhere,
    PUBLIC_URL: nowhere,
    DATA_DIR: dataFolder(),
  }),
  'oauth-broker': async () => ({
    DATABASE_URI: await database(),
    REDIS_URI: testRedis().url,
    ORG_ACCESS_URL: nowhere,
    CONTROL_PLANE_URL: nowhere,
    PUBLIC_URL: nowhere,
  }),
  'agent-api': async () => ({ DATABASE_URI: await database(), ...deployment() }),
  'run-worker': async () => ({ DATABASE_URI: await database(runPath), ...deployment() }),
};
/** Services that run code of projects, which leaves processes behind: the first process has to reap them. */
const RUN_PROJECTS = ['data-plane', 'builder', 'agent-api', 'run-worker'];
const nowhere = 'http://127.0.0.1:1';

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-data-'));
  closings.push(() => rm(folder, { recursive: true }));
  return folder;
}

function deployment(): Record<string, string> {
  const redis = testRedis();
  closings.push(() => redis.close());
  return { REDIS_URI: redis.url, REDIS_KEY_PREFIX: redis.prefix, PROJECT_DIR: project, RUNYARD_AUTH: 'none' };
}

function platform(): Record<string, string> {
  const redis = testRedis();
  closings.push(() => redis.close());
  return {
    EVENT_BUS: 'redis',
    EVENT_BUS_REDIS_URI: redis.url,
    TOPIC_PREFIX: redis.prefix,
    INTERNAL_TOKEN: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  };
}

/** Returns the packages that the service finds beside it instead of in its bundle. */
async function notInlined(service: string): Promise<string[]> {
  const text = await readFile(join(repository, `services/${service}/build.config.json`), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { external?: string[] }).external ?? [];
}

describe('the Dockerfile of', () => {
  it.each(Object.keys(environments))(
    '%s builds from a clean folder into a service that starts alone and answers',
    async (service) => {
      const image = await build(service);
      expect(image.entrypoint).toEqual(RUN_PROJECTS.includes(service) ? ['tini', '-s', '--'] : []);
      expect(image.command).toEqual(['node', '--enable-source-maps', 'dist/main.js']);
      const { resolve } = createRequire(join(image.workingDirectory, 'dist/main.js'));
      for (const name of await notInlined(service)) expect(() => resolve(name)).not.toThrow();
      const running = await startServiceProcess({
        entry: join(image.workingDirectory, 'dist/main.js'),
        env: { ...image.environment, ...platform(), ...(await environments[service]?.()), HOST: '127.0.0.1' },
      });
      closings.push(() => running.stop());
      expect(await (await fetch(`${running.url}/ok`)).json()).toMatchObject({ ok: true });
      expect(await running.stop()).toEqual({ code: 0, signal: null });
    },
  );
});

describe('parseDockerfile', () => {
  it('returns the stages by name, with continued lines joined and comments left out', () => {
    const text = '# one\nFROM a:1 AS build\nRUN x \\\n  y\n\nFROM b\n# two\nCOPY --from=build /out .\n';
    expect(parseDockerfile(text)).toEqual([
      { name: 'build', instructions: [{ name: 'RUN', text: 'x    y' }] },
      { name: '1', instructions: [{ name: 'COPY', text: '--from=build /out .' }] },
    ]);
  });
});
