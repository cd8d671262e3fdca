import { randomUUID } from 'node:crypto';
import type { BuildJob } from '@runyard/contracts';
import { testRedis } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BuildReceiver, BuildSender } from './index.ts';
import { waitForBuild } from './wait-for-build.ts';

const redis = testRedis();
const onError = (error: Error) => {
  throw error;
};
const queue = { redis: redis.url, prefix: redis.prefix, onError };
let sender: BuildSender;
beforeAll(() => {
  sender = new BuildSender(queue);
});
afterAll(async () => {
  await sender?.close();
  await redis.close();
});

const ORDER_URL = `/internal/builds/${randomUUID()}/order?epoch=0`;

const add = async () => {
  const job: BuildJob = { revision_id: randomUUID(), deployment_id: randomUUID(), order_url: ORDER_URL };
  await sender.add(job, { jobId: job.revision_id });
};

/** Takes jobs, and resolves when there was none for a moment. */
async function receiveUntilIdle(onJob: () => Promise<void>, prefix = queue.prefix): Promise<void> {
  let receiver: BuildReceiver | undefined;
  await new Promise<void>((resolve) => {
    const idle = { afterMs: 200, onIdle: resolve };
    receiver = new BuildReceiver({ ...queue, prefix, concurrency: 1, onJob, idle });
    receiver.start();
  });
  await receiver?.close(1_000);
}

it('a builder that was never given a job, and one whose job has ended, is idle; one that works is not', async () => {
  await add();
  const ends: string[] = [];
  await receiveUntilIdle(async () => {
    // Another one has nothing to do meanwhile.
    await receiveUntilIdle(async () => undefined, `${queue.prefix}-other`);
    ends.push('other');
  });
  ends.push('this');
  expect(ends).toEqual(['other', 'this']);
});

it('who waits for a build hears of one that is added, and at once of one that waits already', async () => {
  const never = new AbortController().signal;
  let hasHeard = false;
  const waiting = waitForBuild(queue, never).then(() => {
    hasHeard = true;
  });
  // Its answer needs as many round trips as that of the other.
  await waitForBuild(queue, AbortSignal.timeout(300));
  expect(hasHeard).toBe(false);
  await add();
  await waiting;
  await waitForBuild(queue, never);
  await receiveUntilIdle(async () => undefined);
});

it('who waits for a build is not held by it when it stops', async () => {
  const stopping = new AbortController();
  const waiting = waitForBuild(queue, stopping.signal);
  stopping.abort();
  await waiting;
});
