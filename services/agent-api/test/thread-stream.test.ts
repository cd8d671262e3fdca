import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask, open, type RawAnswer } from './raw-http.ts';
import { expectNoLossOnReconnect } from './rejoining.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

interface SentEvent {
  id: string;
  event: string;
  data: unknown;
}

async function newThread(): Promise<string> {
  return (await deployment.client.threads.create({ graphId: 'echo' })).thread_id;
}

const streamOf = (threadId: string, query = '', lastEventId?: string) =>
  open(`${deployment.url}/threads/${threadId}/stream${query}`, {
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  });

/** Runs one run of the thread that emits these; returns its id. */
async function runThrough(threadId: string, says: unknown[], resumable = true): Promise<string> {
  await deployment.client.runs.create(threadId, 'echo', { input: {}, streamResumable: resumable });
  const run = await deployment.worker.take();
  for (const each of says) await run.emit('custom', each);
  await run.succeed({});
  return run.claimed.runId;
}

function eventsSent(answer: RawAnswer): SentEvent[] {
  return [...answer.text.matchAll(/event: (.*)\r\ndata: (.*)\r\nid: (.*)\r\n\r\n/g)].map(([, event, data, id]) => ({
    event: event!,
    data: JSON.parse(data!),
    id: id!,
  }));
}

const waitForEvents = (answer: RawAnswer, count: number) =>
  waitFor(() => (eventsSent(answer).length >= count ? eventsSent(answer) : undefined), { what: `${count} events` });

const begun = (run_id: string) => ({ event: 'metadata', data: { run_id, attempt: 1 } });
const done = (run_id: string) => ({ event: 'metadata', data: { status: 'run_done', run_id } });
const says = (data: unknown) => ({ event: 'custom', data });
const withoutIds = (events: SentEvent[]) => events.map(({ event, data }) => ({ event, data }));

describe('the stream of a thread', () => {
  it('has all its runs, one after the other, with ids, and its headers come at once', async () => {
    const threadId = await newThread();
    const answer = await streamOf(threadId);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      location: `/threads/${threadId}/stream`,
    });
    const first = await runThrough(threadId, ['a', 'b'], false);
    const second = await runThrough(threadId, ['c']);
    const events = await waitForEvents(answer, 7);
    expect(withoutIds(events)).toEqual([
      begun(first),
      says('a'),
      says('b'),
      done(first),
      begun(second),
      says('c'),
      done(second),
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(7);
    for (const { id } of events) expect(id).toMatch(/^\d+-\d+$/);
    answer.hangUp();
  });

  it('has the end of runs that are deleted or cancelled, whether they are running or pending', async () => {
    const threadId = await newThread();
    const answer = await streamOf(threadId, '?stream_mode=lifecycle');
    const create = () => deployment.client.runs.create(threadId, 'echo', { input: {} });
    const running = await create();
    const waiting = await create();
    const cancelled = await create();
    await deployment.worker.take();
    await deployment.client.runs.delete(threadId, waiting.run_id);
    await deployment.client.runs.cancel(threadId, cancelled.run_id);
    await deployment.client.runs.delete(threadId, running.run_id);
    expect(withoutIds(await waitForEvents(answer, 4))).toEqual([
      begun(running.run_id),
      done(waiting.run_id),
      done(cancelled.run_id),
      done(running.run_id),
    ]);
    const next = await runThrough(threadId, []);
    expect(withoutIds(await waitForEvents(answer, 6)).slice(4)).toEqual([begun(next), done(next)]);
    answer.hangUp();
  });

  it('with lifecycle has only where runs begin and end, with state_update only writes of state', async () => {
    const threadId = await newThread();
    const lifecycle = await streamOf(threadId, '?stream_mode=lifecycle');
    const both = await streamOf(threadId, '?stream_modes=lifecycle&stream_modes=state_update');
    const states = await streamOf(threadId, '?stream_mode=%5B%22state_update%22%5D');
    const all = await streamOf(threadId, '?stream_mode=run_modes,state_update,lifecycle');
    await deployment.client.threads.updateState(threadId, { values: { messages: [] }, asNode: 'echo' });
    const run = await runThrough(threadId, ['a']);
    const [state] = await waitForEvents(states, 1);
    expect(state).toMatchObject({
      event: 'state_update',
      data: { thread_id: threadId, state: { values: { messages: [] }, next: [], checkpoint: { thread_id: threadId } } },
    });
    const { id: _id, ...update } = state!;
    expect(withoutIds(await waitForEvents(lifecycle, 2))).toEqual([begun(run), done(run)]);
    expect(withoutIds(await waitForEvents(both, 3))).toEqual([update, begun(run), done(run)]);
    expect(withoutIds(await waitForEvents(all, 4))).toEqual([update, begun(run), says('a'), done(run)]);
    expect(eventsSent(states)).toHaveLength(1);
    for (const answer of [lifecycle, both, states, all]) answer.hangUp();
  });

  it('resumes strictly after an event, across runs; a request for all there is gets the resumable ones', async () => {
    const threadId = await newThread();
    const first = await streamOf(threadId);
    const ofNoUse = await runThrough(threadId, ['a', 'b'], false);
    const kept = await runThrough(threadId, ['c']);
    const events = await waitForEvents(first, 7);
    first.hangUp();
    const again = await streamOf(threadId, '', events[1]!.id);
    expect(await waitForEvents(again, 5)).toEqual(events.slice(2));
    const last = await runThrough(threadId, ['d'], false);
    expect(withoutIds((await waitForEvents(again, 8)).slice(5))).toEqual([begun(last), says('d'), done(last)]);
    again.hangUp();
    for (const everything of ['-1', '-', '0', '0-0', '7']) {
      const late = await streamOf(threadId, '?stream_mode=run_modes', everything);
      const then = await runThrough(threadId, ['e'], false);
      expect(withoutIds(await waitForEvents(late, 6))).toEqual([
        begun(kept),
        says('c'),
        done(kept),
        begun(then),
        says('e'),
        done(then),
      ]);
      expect(late.text).not.toContain(ofNoUse);
      late.hangUp();
    }
  });

  it('has the end of each resumable run for a request for all there is, whoever published that', async () => {
    const threadId = await newThread();
    await deployment.client.runs.create(threadId, 'echo', { input: {}, streamResumable: true });
    const run = await deployment.worker.take();
    await run.emit('custom', 'a');
    const { runId } = run.claimed;
    await deployment.client.runs.delete(threadId, runId);
    const late = await streamOf(threadId, '', '-1');
    expect(withoutIds(await waitForEvents(late, 3))).toEqual([begun(runId), says('a'), done(runId)]);
    late.hangUp();
  });

  it('brings every client everything once in the end, however often they and those of its runs disconnect', async () => {
    await expectNoLossOnReconnect(deployment);
  });

  it('waits for a client that stops reading, which holds up nobody and gets everything in the end', async () => {
    const threadId = await newThread();
    const slow = await streamOf(threadId);
    const quick = await streamOf(threadId);
    slow.stopReading();
    const chunk = 'x'.repeat(64 * 1024);
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    const run = await runThrough(
      threadId,
      numbers.map((n) => ({ n, chunk })),
      false,
    );
    for (const answer of [quick, slow]) {
      answer.readOn();
      await answer.until(`{"status":"run_done","run_id":"${run}"}`);
      expect([...answer.text.matchAll(/data: {"n":(\d+),/g)].map(([, n]) => Number(n))).toEqual(numbers);
      answer.hangUp();
    }
  });

  it('sends a state update in every process that has the stream open', async () => {
    const threadId = await newThread();
    const reading = deployment.worker.streams.read(threadId);
    const next = reading.next();
    await deployment.client.threads.updateState(threadId, { values: { messages: [] }, asNode: 'echo' });
    expect((await next).value).toMatchObject({ kind: 'thread.state', event: 'state_update' });
    await reading.return();
  });

  it('begins now without an id, and after one that was never issued', async () => {
    const threadId = await newThread();
    await runThrough(threadId, ['old']);
    const now = await streamOf(threadId);
    const future = await streamOf(threadId, '', '99999999999999-0');
    const run = await runThrough(threadId, ['new']);
    for (const answer of [now, future]) {
      expect(withoutIds(await waitForEvents(answer, 3))).toEqual([begun(run), says('new'), done(run)]);
      answer.hangUp();
    }
  });

  it('ends when the thread is deleted, and is 404 for a thread that does not exist', async () => {
    const threadId = await newThread();
    const answer = await streamOf(threadId);
    await deployment.client.threads.delete(threadId);
    expect(await answer.complete).toBe('');
    const missing = await ask(`${deployment.url}/threads/${randomUUID()}/stream`);
    expect(missing).toMatchObject({ status: 404, json: { detail: expect.stringContaining('not found') } });
  });

  it('refuses a wrong mode or id with the reason', async () => {
    const threadId = await newThread();
    for (const query of ['?stream_mode=zap', '?stream_modes=lifecycle,zap', '?stream_mode=%5B%22zap%22%5D']) {
      const refused = await ask(`${deployment.url}/threads/${threadId}/stream${query}`);
      expect(refused).toMatchObject({ status: 422, json: { detail: 'Invalid stream mode: zap' } });
    }
    const refused = await ask(`${deployment.url}/threads/${threadId}/stream`, { headers: { 'last-event-id': 'zap' } });
    expect(refused.status).toBe(422);
    expect(refused.json).toMatchObject({ detail: expect.stringContaining('Invalid last-event-id') });
  });

  it('sends a heartbeat every five seconds, and frees everything when its client leaves', async () => {
    const threadId = await newThread();
    const answer = await streamOf(threadId);
    await answer.until(': heartbeat\r\n\r\n');
    answer.hangUp();
    await waitFor(async () => /lg_api_open_streams(\{.*\})? 0\n/.test((await ask(`${deployment.url}/metrics`)).text), {
      what: 'no open stream',
    });
  });
});
