import { fileURLToPath } from 'node:url';
import { HANGS_AFTER_MS, waitFor } from '@runyard/test-kit';
import { packagesOf, preparePython } from '@runyard/test-kit/python';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let environment: Record<string, string>;
beforeAll(async () => {
  const python = await preparePython(here('../../../hosts/python/requirements.txt'));
  environment = { PROJECT_DIR: here('./python-project'), GRAPH_HOST_SILENT_SECONDS: '5', ...packagesOf(python) };
});

let deployment: Deployment;
beforeEach(async () => {
  deployment = await openDeployment();
});
afterEach(() => deployment.close());

/** Starts a run, and waits until its code is being executed. */
async function begin(graphId: string) {
  const [ledger, gate] = [deployment.file(), deployment.file()];
  const input = { ledger: ledger.path, gate: gate.path };
  const run = await deployment.create(graphId, { input, configurable: { ledger: ledger.path } });
  await waitFor(async () => (await ledger.lines()).length > 0, { what: `${graphId} to begin` });
  return { run, gate, lines: ledger.lines };
}

const cancel = ({ run: { threadId, runId } }: Awaited<ReturnType<typeof begin>>) =>
  deployment.engine.requestCancel({ threadId, runIds: [runId] }, 'interrupt', 'asked to');

it('a factory that ends its process fails its run by name, and what ran beside it is repeated', async () => {
  await deployment.startWorkerProcess({ ...environment, BG_JOB_MAX_RETRIES: '1' });
  const beside = await begin('waits');
  const { run, lines } = await begin('exits_in_factory');
  expect(await deployment.ended(run)).toMatchObject({
    status: 'error',
    error: { error: 'RunAttemptsExhausted', message: expect.stringMatching(/GraphHostLost.*exited with code 3/s) },
  });
  // The first attempt was not charged: the run beside it may have ended the process as well.
  expect(await lines()).toHaveLength(2);
  await beside.gate.write('');
  expect(await deployment.ended(beside.run)).toMatchObject({ status: 'success' });
  expect(await beside.lines()).toHaveLength(2);
});

describe('code in Python that never returns', () => {
  it('a cancel ends the run of a blocking factory, and what its process kept from going on is repeated', async () => {
    await deployment.startWorkerProcess(environment);
    const beside = await begin('waits');
    const blocking = await begin('blocks_factory');
    await beside.gate.write('');
    await cancel(blocking);
    expect(await deployment.ended(blocking.run)).toMatchObject({ status: 'interrupted' });
    expect(await deployment.ended(beside.run)).toMatchObject({ status: 'success' });
    expect(await blocking.lines()).toHaveLength(1);
  });

  it('a cancel ends the run of a plain function, and what runs beside it goes on', async () => {
    await deployment.startWorkerProcess(environment);
    const beside = await begin('waits');
    const blocking = await begin('blocks_thread');
    await cancel(blocking);
    expect(await deployment.ended(blocking.run)).toMatchObject({ status: 'interrupted' });
    await beside.gate.write('');
    expect(await deployment.ended(beside.run)).toMatchObject({ status: 'success', attempt: 1 });
    expect(await beside.lines()).toHaveLength(1);
  });

  it('a time limit ends runs that block their event loop, and those of plain functions', async () => {
    await deployment.startWorkerProcess({ ...environment, BG_JOB_TIMEOUT_SECS: '1' });
    const input = { ledger: deployment.file().path };
    const runs = [
      await deployment.create('blocks_thread', { input }),
      await deployment.create('blocks_loop', { input }),
    ];
    const error = { error: 'TimeoutError', message: 'The run took longer than 1 seconds.' };
    for (const run of runs) expect(await deployment.ended(run)).toMatchObject({ status: 'error', error });
  });

  it('a worker that stops hands its runs back and ends', async () => {
    const worker = await deployment.startWorkerProcess(environment);
    await begin('blocks_thread');
    await begin('blocks_loop');
    expect(await worker.stop({ graceMs: HANGS_AFTER_MS })).toMatchObject({ code: 0 });
    const handedBack = await deployment.rows('SELECT status, failures, drains FROM run');
    expect(handedBack).toEqual(Array(2).fill({ status: 'pending', failures: 0, drains: 1 }));
  });
});
