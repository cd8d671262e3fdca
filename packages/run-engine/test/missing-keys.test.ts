import { openPool } from '@runyard/database';
import {
  createDataCipher,
  type DataCipher,
  KeyUnavailableError,
  keyHeaderOf,
  keyIdOfHeader,
  NO_ENCRYPTION,
} from '@runyard/encryption';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunEngine } from '../src/engine.ts';
import type { RunEngineOptions } from '../src/engine-options.ts';
import type { MissingKeyReport } from '../src/runs/missing-keys.ts';
import type { DelayedRun } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine, writeCheckpointUnderFence } from './engine-fixture.ts';

const cipher = createDataCipher('k'.repeat(32));
const KEY_ID = keyIdOfHeader(keyHeaderOf(cipher.encrypt(Buffer.of()))!);

let fixture: EngineFixture;
/** The engine of a process that has the key. */
let withKey: RunEngine;
/** Monotonic time of processes without it. */
let now: number;
beforeEach(async () => {
  fixture = await openEngine();
  withKey = engineOf({ cipher });
  now = 0;
});
afterEach(async () => {
  await withKey.close();
  await fixture.close();
});

function engineOf(options: Partial<RunEngineOptions>): RunEngine {
  const deployment = { deploymentId: 'test', source: '/runyard/test', releaseDelaysMs: [0] };
  return new RunEngine({ pool: fixture.pool, ...deployment, ...options });
}

/** Returns the engine of a process without the key, whose clock is `now`. */
function keyless(options: Partial<RunEngineOptions> = {}): RunEngine {
  return engineOf({ now: () => now, ...options });
}

/** Creates runs of threads of their own, encrypted. */
async function createEncrypted(count: number): Promise<{ runId: string; threadId: string }[]> {
  const runs: { runId: string; threadId: string }[] = [];
  for (let index = 0; index < count; index += 1) runs.push((await withKey.createRun(aRun())).run);
  return runs;
}

const idsOf = (runs: { runId: string }[]) => runs.map(({ runId }) => runId);

async function storedRun(runId: string): Promise<Record<string, unknown>> {
  const [row] = await fixture.rows(
    `SELECT status, attempt, failures, key_missing_since IS NOT NULL AS "awaitsKey",
            extract(epoch FROM ready_at - now())::float8 AS seconds FROM run WHERE run_id = $1`,
    [runId],
  );
  return row!;
}

/** Lets waiting runs be claimed again at once. */
async function passDelays(): Promise<void> {
  await fixture.rows(`UPDATE run SET ready_at = now() - interval '1 second' WHERE status = 'pending'`);
}

describe('a worker that fails to get the key of a claimed run', () => {
  it('charges the run nothing, and lets it wait', async () => {
    const [run] = await createEncrypted(1);
    const worker = await fixture.worker();
    const engine = keyless({ maxFailures: 1, maxAttempts: 2 });
    for (let claim = 0; claim < 5; claim += 1) {
      now += 60_000;
      await passDelays();
      expect(await engine.claimRuns(worker, 10)).toEqual([]);
      expect(await storedRun(run!.runId)).toMatchObject({
        status: 'pending',
        attempt: 1,
        failures: 0,
        awaitsKey: true,
      });
    }
    expect((await storedRun(run!.runId)).seconds).toBeGreaterThan(3);
    await passDelays();
    const [executed] = await withKey.claimRuns(worker, 1);
    expect(executed).toMatchObject({ runId: run!.runId, attempt: 2 });
    await withKey.releaseRun(executed!.fence);
    expect(await storedRun(run!.runId)).toMatchObject({ attempt: 2, awaitsKey: false });
    await engine.close();
  });

  it('leaves the runs of that key to its neighbours for ten seconds, and claims all others', async () => {
    const encrypted = await createEncrypted(4);
    const worker = await fixture.worker();
    const engine = keyless();
    expect(await engine.claimRuns(worker, 1)).toEqual([]);
    const { run: plain } = await fixture.engine.createRun(aRun());
    await passDelays();
    expect(idsOf(await engine.claimRuns(worker, 10))).toEqual([plain.runId]);
    const threads = { runIds: [], threadIds: encrypted.map(({ threadId }) => threadId) };
    expect(await engine.claimRuns(worker, 10, { among: threads })).toEqual([]);
    const untouched = { attempt: 0, awaitsKey: false };
    expect(await storedRun(encrypted[3]!.runId)).toMatchObject(untouched);
    now += 10_000;
    expect(await engine.claimRuns(worker, 10)).toEqual([]);
    expect(await storedRun(encrypted[3]!.runId)).toMatchObject({ attempt: 1, awaitsKey: true });
    await passDelays();
    expect(idsOf(await withKey.claimRuns(worker, 10)).sort()).toEqual(idsOf(encrypted).sort());
    await engine.close();
  });

  it('finds the runs behind those of many missing keys by the same claim', async () => {
    for (let index = 10; index < 22; index += 1) {
      const other = engineOf({ cipher: createDataCipher(`k${index}`.repeat(8).slice(0, 32)) });
      await other.createRun(aRun());
      await other.close();
    }
    const { run: plain } = await fixture.engine.createRun(aRun());
    const engine = keyless();
    expect(idsOf(await engine.claimRuns(await fixture.worker(), 2))).toEqual([plain.runId]);
    await engine.close();
  });

  it('keeps the order of the thread: no later run passes one that waits for its key', async () => {
    const threadId = await fixture.thread();
    const { run: first } = await withKey.createRun(aRun({ threadId, keepsThread: true }));
    await fixture.engine.createRun(aRun({ threadId, keepsThread: true }));
    const worker = await fixture.worker();
    const engine = keyless();
    expect(await engine.claimRuns(worker, 10)).toEqual([]);
    expect(await fixture.engine.claimRuns(worker, 10)).toEqual([]);
    await passDelays();
    expect(idsOf(await withKey.claimRuns(worker, 10))).toEqual([first.runId]);
    await engine.close();
  });

  it('reports how many runs wait for keys, those that it did not try among them, once in ten seconds', async () => {
    await createEncrypted(5);
    await fixture.engine.createRun(aRun({ afterSeconds: 3600 }));
    const reports: MissingKeyReport[] = [];
    const engine = keyless({ onMissingKey: (report) => reports.push(report) });
    const worker = await fixture.worker();
    await engine.claimRuns(worker, 2);
    const report = { keyId: KEY_ID, reason: expect.stringContaining('LANGGRAPH_AES_KEY'), waitingRuns: 5 };
    expect(reports).toEqual([report]);
    expect(await engine.readQueueStatistics()).toMatchObject({ pendingRuns: 6, runsAwaitingKeys: 5 });
    now += 10_000;
    await engine.claimRuns(worker, 2);
    expect(reports).toEqual([report, report]);
    await engine.close();
  });
});

it('a run whose key no worker gets within the time for it ends, and its error names the key', async () => {
  const [run] = await createEncrypted(1);
  const worker = await fixture.worker();
  const engine = keyless();
  await engine.claimRuns(worker, 1);
  await passDelays();
  await fixture.rows(`UPDATE run SET key_missing_since = now() - interval '24 hours'`);
  now += 10_000;
  await engine.claimRuns(worker, 1);
  expect(await withKey.getRun(run!.threadId, run!.runId)).toMatchObject({
    status: 'error',
    error: {
      error: 'EncryptionKeyUnavailable',
      message: expect.stringMatching(
        `^No worker got the encryption key of the run within 24 hours: .* Key ${KEY_ID}\\.$`,
      ),
    },
  });
  await engine.close();
});

it('a run whose arguments were changed is charged, and no other run of its key waits for that', async () => {
  const [damaged, whole] = await createEncrypted(2);
  await fixture.rows('UPDATE run SET kwargs = set_byte(kwargs, 30, get_byte(kwargs, 30) # 1) WHERE run_id = $1', [
    damaged!.runId,
  ]);
  const worker = await fixture.worker();
  expect(idsOf(await withKey.claimRuns(worker, 10))).toEqual([whole!.runId]);
  expect(await storedRun(damaged!.runId)).toMatchObject({ failures: 1, awaitsKey: false });
  await withKey.claimRuns(worker, 10);
  await withKey.claimRuns(worker, 10);
  const [ended] = await fixture.rows('SELECT status, error FROM run WHERE run_id = $1', [damaged!.runId]);
  expect(ended).toMatchObject({ status: 'error', error: { error: 'RunAttemptsExhausted' } });
});

it('a run that misses a key while it is executed keeps its attempts, and waits longer the longer that takes', async () => {
  const [run] = await createEncrypted(1);
  const worker = await fixture.worker();
  const miss = async () => {
    await passDelays();
    const [claimed] = await withKey.claimRuns(worker, 1);
    const client = await fixture.pool.connect();
    await writeCheckpointUnderFence(client, claimed!, `1efb0000-0000-6000-8000-00000000000${claimed!.attempt}`);
    client.release();
    await withKey.releaseRun(claimed!.fence, { awaitsKey: 'duringExecution' });
    return storedRun(run!.runId);
  };
  const first = await miss();
  expect(first).toMatchObject({ status: 'pending', attempt: 1, failures: 0, awaitsKey: true });
  expect(first.seconds).toBeLessThanOrEqual(10);
  await fixture.rows(`UPDATE run SET key_missing_since = now() - interval '20 minutes'`);
  const second = await miss();
  expect(second).toMatchObject({ attempt: 2, failures: 0 });
  expect(Math.round((second.seconds as number) / 60)).toBe(5);
});

it('a claim waits for no run whose key is not to be had: that is held, and released when it is not decrypted', async () => {
  const { run: hung } = await fixture.engine.createRun(aRun());
  const { run: other } = await fixture.engine.createRun(aRun());
  let fail!: (error: Error) => void;
  let loading: Promise<void> | undefined = new Promise((_, reject) => {
    fail = reject;
  });
  const loadKeys: DataCipher['loadKeys'] = (rows) => (JSON.stringify(rows).includes(hung.runId) ? loading : undefined);
  const { connectionString } = fixture.pool.options as { connectionString: string };
  const pool = openPool({ connectionString, max: 2, applicationName: 'claims-test', beforeRows: loadKeys });
  const cipher = { ...NO_ENCRYPTION, loadKeys };
  const engine = new RunEngine({ pool, deploymentId: 'test', source: '/runyard/test', cipher });
  const delayed: DelayedRun[] = [];
  const claimed = await engine.claimRuns(await fixture.worker(), 10, { onDelayed: (run) => delayed.push(run) });
  expect(claimed.map(({ runId }) => runId)).toEqual([other.runId]);
  expect(delayed).toMatchObject([{ runId: hung.runId, fence: { runId: hung.runId, threadId: hung.threadId } }]);
  expect(await fixture.engine.getRun(hung.threadId, hung.runId)).toMatchObject({ status: 'running' });
  loading = undefined;
  fail(new KeyUnavailableError('01020304', 'the key service is away'));
  expect(await delayed[0]!.run).toBeUndefined();
  expect(await storedRun(hung.runId)).toMatchObject({ status: 'pending', failures: 0, awaitsKey: true });
  await engine.close();
  await pool.end();
});
