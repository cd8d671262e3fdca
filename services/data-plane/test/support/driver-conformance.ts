import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Artifact } from '@runyard/deployments';
import { RevisionStartError } from '@runyard/deployments';
import { makeLogOpener } from '@runyard/revision-logs';
import { silentLogger } from '@runyard/service-kit';
import { createTestDatabase, HANGS_AFTER_MS, type TestDatabase, waitFor } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PlatformSettings } from '../../src/drivers/deployment-variables.ts';
import type { Driver, RevisionSpec, RunningRevision } from '../../src/drivers/driver.ts';
import type { SupervisionOptions } from '../../src/drivers/process/launcher.ts';
import { RunningRevisions } from '../../src/drivers/running-revisions.ts';
import { readMountPrefix } from '../../src/roll-outs/mount-prefix.ts';

export interface DriverUnderTest {
  driver: Driver;
  artifact: Artifact;
}

/** The options of a driver under test. */
export interface DriverTestOptions extends SupervisionOptions {
  folder: string;
  platform: PlatformSettings;
}

const TIMEOUT_MS = HANGS_AFTER_MS;
const SECRET = 'a value nobody may see';

/**
 * Tests what every driver has to do with a revision, in whatever form it runs it. A fake agent replaces the real
 * services.
 */
export function itConforms(name: string, make: (options: DriverTestOptions) => Promise<DriverUnderTest>): void {
  describe(`the ${name} driver`, () => {
    let database: TestDatabase;
    let folder: string;
    let underTest: DriverUnderTest;
    let running: RunningRevision | undefined;

    beforeAll(async () => {
      database = await createTestDatabase();
      folder = await mkdtemp(join(tmpdir(), 'runyard-driver-'));
      underTest = await make({
        folder,
        logger: silentLogger,
        openLog: makeLogOpener(folder, silentLogger),
        running: new RunningRevisions(),
        timings: { firstBackoffMs: 5 },
        platform: {
          host: '127.0.0.1',
          publicUrl: 'https://agents.example.com',
          jwksUrl: 'https://keys.example.com',
          graceSeconds: 5,
          logLevel: 'info',
          eventBus: { kind: 'kafka', kafkaBrokers: 'kafka.example.com:9092', topicPrefix: '' },
        },
      });
    });
    afterEach(async () => {
      await running?.stop(0);
      running = undefined;
    });
    afterAll(async () => {
      await database?.close();
      await rm(folder, { recursive: true, force: true });
    });

    const specOf = (secrets: Record<string, string>, changes: Partial<RevisionSpec> = {}): RevisionSpec => ({
      deploymentId: randomUUID(),
      revisionId: randomUUID(),
      isFirst: true,
      publicUrls: [],
      artifact: underTest.artifact,
      resources: {},
      databaseUri: database.url,
      redisUri: 'redis://:redis-password@redis.example.com',
      redisKeyPrefix: 'runyard:test',
      secrets,
      ...changes,
    });
    const start = async (
      spec: RevisionSpec,
      { signal = new AbortController().signal, timeoutMs = TIMEOUT_MS, onUpstreams = (_: string[]) => {} } = {},
    ) => {
      running = await underTest.driver.start(spec, { signal, timeoutMs, onUpstreams });
      return running;
    };

    it('starts a revision with secrets that nobody else can read, and its servers report their mount prefix', async () => {
      const spec = specOf({ MODEL_KEY: SECRET, N_JOBS_PER_WORKER: '4', MOUNT_PREFIX: '/agents' });
      const { upstreams, revisionId, hasCustomAuth } = await start(spec);
      expect([revisionId, hasCustomAuth, upstreams.length]).toEqual([spec.revisionId, false, 1]);
      expect(await readMountPrefix(upstreams, new AbortController().signal)).toBe('/agents');
      const answer = await fetch(`${upstreams[0]}/started-with`);
      const { env, argv, secrets } = (await answer.json()) as {
        env: object;
        argv: string[];
        secrets: Record<string, string>;
      };
      expect(env).toMatchObject({ REVISION_ID: spec.revisionId, N_JOBS_PER_WORKER: '4', LOG_JSON: 'true' });
      expect(JSON.parse(secrets.PROJECT_ENV!)).toEqual(spec.secrets);
      for (const secret of [SECRET, 'redis-password', database.url]) {
        expect(JSON.stringify([env, argv])).not.toContain(secret);
        expect(await commandLines(spec.revisionId)).not.toContain(secret);
      }
    });

    it('runs as many replicas as the revision requests', async () => {
      const { upstreams } = await start(specOf({}, { resources: { min_scale: 2 } }));
      expect(new Set(upstreams).size).toBe(2);
    });

    it('reports why a revision does not start, with its log and without its secrets, and leaves nothing', async () => {
      const spec = specOf({ FAIL_WITH: SECRET });
      const failure = await start(spec).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RevisionStartError);
      expect((failure as Error).message).toMatch(/ended with code 3 before it was healthy/);
      expect((failure as Error).message).toContain('cannot load the graph: ***');
      expect(await commandLines(spec.revisionId)).toEqual([]);
    });

    it('gives up a revision that is not healthy in time, or not wanted any more', async () => {
      const late = specOf({ NEVER_HEALTHY: '1' });
      await expect(start(late, { timeoutMs: 3_000 })).rejects.toThrow(/was not healthy in time/);
      const abort = new AbortController();
      const unwanted = specOf({ NEVER_HEALTHY: '1' });
      const started = start(unwanted, { signal: abort.signal });
      abort.abort(new Error('not wanted any more'));
      await expect(started).rejects.toThrow();
      expect([...(await commandLines(late.revisionId)), ...(await commandLines(unwanted.revisionId))]).toEqual([]);
    });

    it('restarts a crashed part, and reports its URL', async () => {
      const told: string[][] = [];
      const revision = await start(specOf({}), { onUpstreams: (urls) => told.push(urls) });
      const [before] = revision.upstreams;
      await fetch(`${before}/crash`).catch(() => undefined);
      // The address may be the same; the outage is reported in any case.
      await waitFor(() => told.length === 3, { what: 'an upstream again' });
      expect(told).toEqual([[before], [], revision.upstreams]);
      expect((await fetch(`${revision.upstreams[0]}/ok`)).status).toBe(200);
    });

    it('scales up and down, and takes a server out of the route before it ends', async () => {
      const told: string[][] = [];
      const spec = specOf({}, { resources: { max_scale: 2 } });
      const revision = await start(spec, { onUpstreams: (urls) => told.push(urls) });
      const [first] = revision.upstreams;
      revision.scale('agent-api', 2);
      revision.scale('run-worker', 2);
      await waitFor(() => revision.replicas().filter(({ url }) => url !== null).length === 4, {
        what: 'four replicas that answer',
      });
      const leaving = revision.upstreams.find((url) => url !== first);
      revision.scale('agent-api', 1);
      expect([revision.upstreams, told.at(-1), revision.countOf('agent-api')]).toEqual([[first], [first], 1]);
      expect((await fetch(`${leaving}/ok`)).status, 'who has not heard of it is answered still').toBe(200);
      await waitFor(() => revision.replicas().length === 3, { what: 'the end of a server' });
      expect(revision.replicas().map(({ name }) => name)).toEqual(['agent-api-1', 'run-worker-1', 'run-worker-2']);
      await revision.drain();
      expect(await commandLines(spec.revisionId)).toEqual([]);
    });

    it('lets a drained revision finish, and leaves nothing of it', async () => {
      const spec = specOf({ STOP_DELAY_MS: '300' });
      const revision = await start(spec);
      await revision.drain();
      expect(revision.upstreams).toEqual([]);
      expect(await commandLines(spec.revisionId)).toEqual([]);
    });
  });
}

/** Returns the command lines of all processes with the revision in their environment. */
async function commandLines(revisionId: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found: string[] = [];
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.includes(`REVISION_ID=${revisionId}`)) {
      found.push(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
    }
  }
  return found;
}
