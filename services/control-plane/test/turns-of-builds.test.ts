import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { BuildJob, BuildOrder } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BuildOrders } from '../src/builds/build-orders.ts';
import { BuildQueue } from '../src/builds/build-queue.ts';
import { BuildStore } from '../src/builds/build-store.ts';
import { BuildUrls } from '../src/builds/build-urls.ts';
import { DeploymentBuilds } from '../src/builds/deployment-builds.ts';
import { type Database, openDatabase } from '../src/database/database.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const signal = new AbortController().signal;
const urls = new BuildUrls(Buffer.alloc(32).toString('base64'));
const logger = { info: () => {}, warn: () => {}, child: () => logger } as unknown as Logger;
let testDatabase: TestDatabase;
let database: Database;
beforeEach(async () => {
  testDatabase = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: testDatabase.url, poolSize: 4, migrationsDir });
});
afterEach(async () => {
  await database?.close();
  await testDatabase?.close();
});

type Order = BuildOrder & { epoch: number };

/** Makes the parts that get revisions built, with a queue in which jobs have ids and are taken in order. */
function platformWith({ buildsMax }: { buildsMax?: number } = {}) {
  const waiting = new Map<string, BuildJob>();
  const store = new BuildStore({ database, runsProjects: true, buildsMax, onMoved: () => {} });
  const add = async (job: BuildJob, { jobId }: { jobId: string }) => {
    if (!waiting.has(jobId)) waiting.set(jobId, job);
  };
  const queue = new BuildQueue({ sender: { add }, urls, store });
  const builds = {
    prepare: async () => null,
    keepOnly: async () => {},
    describe:
      async (_: unknown, { id }: { id: string }) =>
      (epoch: number) => ({ revision_id: id, epoch }),
  } as never;
  const archives = { remove: async () => {}, removeAll: async () => {} } as never;
  const look = (deploymentId: string) =>
    new DeploymentBuilds(deploymentId, { store, builds, queue, archives, logger }).step();
  const parts = { store, builds, queue, archives, objects: {} as never, copies: {} as never, logger };
  const ended: string[] = [];
  const orders = new BuildOrders({ ...parts, recordCommit: async () => {}, onEnded: (id) => void ended.push(id) });
  const takeJob = (): BuildJob | undefined => {
    const [next] = waiting;
    if (next) waiting.delete(next[0]);
    return next?.[1];
  };
  const order = async ({ revision_id: revisionId, order_url: url }: BuildJob): Promise<Order | null> => {
    const epoch = Number(new URL(url, 'http://control-plane').searchParams.get('epoch'));
    return (await orders.order({ revisionId, epoch }, signal)) as Order | null;
  };
  return {
    look,
    takeJob,
    order,
    store,
    /** A builder takes jobs until one has an order. */
    async takeOrder(): Promise<Order | undefined> {
      for (;;) {
        const job = takeJob();
        const ordered = job && (await order(job));
        if (!job || ordered) return ordered ?? undefined;
      }
    },
    async end({ revision_id: revisionId, epoch }: Order): Promise<void> {
      await orders.end({ revisionId, epoch }, { kind: 'failed', message: 'of the test' }, signal);
      for (const id of ended.splice(0)) await look(id);
    },
  };
}

async function deploymentOf(organizationId: string, workspaceId = organizationId) {
  const [id, revisionId] = [randomUUID(), randomUUID()];
  const source = { source: 'internal_source', sourceConfig: {}, sourceRevisionConfig: { source_tarball_path: id } };
  const place = { organizationId, workspaceId, createdBy: randomUUID(), status: 'READY' };
  await database.prisma.deployment.create({
    data: { id, name: id, slug: id, latestRevisionId: revisionId, ...source, ...place },
  });
  const revision = { id: revisionId, deploymentId: id, number: 1, status: 'AWAITING_BUILD', ...source };
  await database.prisma.revision.create({ data: revision });
  return { id, revisionId };
}

/** Creates deployments that wait for builders, one after the other. */
async function waitInTurn(platform: ReturnType<typeof platformWith>, ...owners: [string, string?][]) {
  const revisionIds: string[] = [];
  for (const owner of owners) {
    const { id, revisionId } = await deploymentOf(...owner);
    await platform.look(id);
    revisionIds.push(revisionId);
  }
  return revisionIds;
}

it('an organization with many builds before that of another one takes turns with it', async () => {
  const platform = platformWith();
  const [many, one] = [randomUUID(), randomUUID()];
  const [first, second, third, ofOther] = await waitInTurn(platform, [many], [many], [many], [one]);
  const ordered = [];
  for (let times = 1; times <= 4; times += 1) ordered.push((await platform.takeOrder())?.revision_id);
  expect(ordered).toEqual([first, ofOther, second, third]);
  expect(await platform.takeOrder()).toBeUndefined();
});

it('workspaces of an organization take turns, too', async () => {
  const platform = platformWith();
  const [organization, many, one] = [randomUUID(), randomUUID(), randomUUID()];
  const [first, second, ofOther] = await waitInTurn(
    platform,
    [organization, many],
    [organization, many],
    [organization, one],
  );
  const ordered = [];
  for (let times = 1; times <= 3; times += 1) ordered.push((await platform.takeOrder())?.revision_id);
  expect(ordered).toEqual([first, ofOther, second]);
});

it('an organization holds no more builders than it may, and its next build begins with the end of another', async () => {
  const platform = platformWith({ buildsMax: 1 });
  const [many, one] = [randomUUID(), randomUUID()];
  const [first, second, ofOther] = await waitInTurn(platform, [many], [many], [one]);
  const begun = await platform.takeOrder();
  expect(begun?.revision_id).toBe(first);
  expect((await platform.takeOrder())?.revision_id).toBe(ofOther);
  expect(await platform.takeOrder()).toBeUndefined();
  await platform.end(begun!);
  expect((await platform.takeOrder())?.revision_id).toBe(second);
});

it('a build that is deleted while it is the next one makes room for the one after it', async () => {
  const platform = platformWith();
  const organization = randomUUID();
  const [first, second] = await waitInTurn(platform, [organization], [organization]);
  const { deploymentId } = await database.prisma.revision.findUniqueOrThrow({ where: { id: first! } });
  await database.prisma.deployment.update({ where: { id: deploymentId }, data: { deleteRequestedAt: new Date() } });
  await platform.look(deploymentId);
  expect((await platform.takeOrder())?.revision_id).toBe(second);
});

it('a URL gives one order: whoever reads it later gets none, while the build goes on and after its end', async () => {
  const platform = platformWith();
  await waitInTurn(platform, [randomUUID()]);
  const job = platform.takeJob()!;
  const order = await platform.order(job);
  expect(order?.epoch).toBe(1);
  await expect(platform.order(job)).rejects.toMatchObject({ status: 409, code: 'build_taken' });
  await platform.end(order!);
  expect(await platform.order(job)).toBeNull();
});

it('a builder that gets the job of one that was killed gets its order by a URL of its own', async () => {
  const platform = platformWith({ buildsMax: 1 });
  await waitInTurn(platform, [randomUUID()]);
  const job = platform.takeJob()!;
  await platform.order(job);
  await database.pool.query(`UPDATE revision SET build_reported_at = now() - interval '6 seconds'`);
  expect(await platform.order(job)).toBeNull();
  expect((await platform.takeOrder())?.epoch).toBe(2);
  expect(await platform.order(job)).toBeNull();
});

it('a look that ends after the order has begun makes no second job of the same build', async () => {
  const platform = platformWith();
  const [revisionId] = await waitInTurn(platform, [randomUUID()]);
  await platform.takeOrder();
  await platform.store.awaitBuilder(revisionId!);
  const { deploymentId } = await database.prisma.revision.findUniqueOrThrow({ where: { id: revisionId! } });
  await platform.look(deploymentId);
  expect(platform.takeJob()).toBeUndefined();
});
