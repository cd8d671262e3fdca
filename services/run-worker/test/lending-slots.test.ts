import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { ApiServers } from '@runyard/run-engine';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

let deployment: Deployment;
const server = createServer(async (req, res) => {
  const run = await deployment.create('nested', { input: await json(req), keepsThread: false });
  res.writeHead(200, { 'content-location': `/threads/${run.threadId}/runs/${run.runId}` }).flushHeaders();
  res.end((await deployment.ended(run)).result);
});

beforeEach(async () => {
  deployment = await openDeployment();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new ApiServers(deployment.pool).register({ serverId: randomUUID(), url, token: 't', revisionId: null });
});
afterEach(async () => {
  await deployment.close();
  await new Promise((resolve) => server.close(resolve));
});

const logOf = ({ result }: { result: Uint8Array | null }) => JSON.parse(Buffer.from(result!).toString()).log;

it('a worker with one slot executes a run that waits for a run that waits for a run that waits for a run', async () => {
  await deployment.startWorker({ N_JOBS_PER_WORKER: '1' });
  const ended = await deployment.ended(await deployment.create('nested', { input: { levels: 3 } }));
  expect(ended).toMatchObject({ status: 'success', attempt: 1 });
  expect(logOf(ended)).toEqual(['the innermost', 'level 1', 'level 2', 'level 3']);
});

it('runs that wait do not take the slots from those they wait for, however many are in line before them', async () => {
  const parents = await Promise.all(
    Array.from({ length: 8 }, () => deployment.create('nested', { input: { levels: 2 } })),
  );
  await deployment.startWorker({ N_JOBS_PER_WORKER: '2' });
  for (const parent of parents) {
    expect(logOf(await deployment.ended(parent))).toEqual(['the innermost', 'level 1', 'level 2']);
  }
});
