import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { ask, open } from './raw-http.ts';

const MIB = 1024 * 1024;
/** More than the system buffers for two ends of a connection: a client that reads nothing keeps it in the service. */
const RESULT_BYTES = 16 * MIB;
const BUDGET_BYTES = 24 * MIB;
const JOINS = 50;

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment({ env: { HTTP_MAX_RESULT_BYTES_IN_FLIGHT: `${BUDGET_BYTES}` } });
});
afterAll(() => deployment?.close());

interface Place {
  threadId: string;
  runId: string;
}

const joinUrl = ({ threadId, runId }: Place) => `${deployment.url}/threads/${threadId}/runs/${runId}/join`;
const LARGE = `"${'a'.repeat(RESULT_BYTES - 2)}"`;

async function startRun() {
  const { thread_id } = await deployment.client.threads.create();
  await ask(`${deployment.url}/threads/${thread_id}/runs`, { body: { assistant_id: 'echo', input: {} } });
  return deployment.worker.take();
}

/** Ends a run with a result of so many bytes, which the database generates itself. */
async function end(run: FakeRun, bytes = RESULT_BYTES): Promise<Place> {
  const { runId } = run.claimed;
  await run.finishUnpublished('success', {}, null);
  const result = `convert_to('"' || repeat('a', $2 - 2) || '"', 'utf8')`;
  await deployment.pool.query(`UPDATE run SET result = ${result} WHERE run_id = $1`, [runId, bytes]);
  await run.publishEnd('{"status":"success"}');
  return run.claimed;
}

const endedRun = async (bytes?: number) => end(await startRun(), bytes);

/** A client that has the beginning of the answer and reads no further. */
async function slowJoin(place: Place) {
  const answer = await open(joinUrl(place));
  answer.stopReading();
  return answer;
}

async function metric(name: string): Promise<number> {
  const { text } = await ask(`${deployment.url}/metrics`);
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
}
const residentBytes = () => metric('process_resident_memory_bytes');

describe('a large result', () => {
  it('is held once for fifty clients that join its run at the same time, however slowly they read', async () => {
    const place = await endedRun();
    // The first reading pays for its own memory and garbage before the others come.
    await (await open(joinUrl(place))).complete;
    const before = await residentBytes();
    const answers = await Promise.all(Array.from({ length: JOINS }, () => slowJoin(place)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // Garbage goes in time, and what is held for these clients stays until they have read it.
    await waitFor(async () => (await residentBytes()) - before < 8 * RESULT_BYTES, { what: 'memory without garbage' });
    expect(await metric('lg_api_results_held_bytes')).toBe(RESULT_BYTES);
    const [one, ...others] = answers;
    for (const other of others) other.hangUp();
    one!.readOn();
    expect((await one!.complete).trim() === LARGE).toBe(true);
  });

  it('is refused with 503 and Retry-After while others fill the budget, and small ones are not', async () => {
    const [first, second, small] = [await endedRun(), await endedRun(), await endedRun(7)];
    const reader = await slowJoin(first);
    const refused = await ask(joinUrl(second));
    expect(refused.status).toBe(503);
    expect(refused.json).toEqual({ detail: expect.any(String) });
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect((await ask(joinUrl(small))).text).toBe('"aaaaa"');
    expect(await metric('lg_api_http_requests_refused_total')).toBe(1);
    reader.readOn();
    await reader.complete;
    expect((await ask(joinUrl(second))).text.trim() === LARGE).toBe(true);
  });

  it('is waited for by a client that has waited for its run, until those who fill the budget are done', async () => {
    const first = await endedRun();
    const run = await startRun();
    const waiting = await open(joinUrl(run.claimed));
    const reader = await slowJoin(first);
    await end(run);
    // The answer has its heartbeat, and nothing else yet.
    await waiting.until('\n');
    expect(waiting.text.trim()).toBe('');
    reader.hangUp();
    expect((await waiting.complete).trim() === LARGE).toBe(true);
    expect(await metric('lg_api_results_held_bytes')).toBe(0);
  });
});
