import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { ask, eventsIn, open } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

const urlOf = ({ claimed }: FakeRun) => `${deployment.url}/threads/${claimed.threadId}/runs/${claimed.runId}`;

async function startRun(body: object = {}): Promise<FakeRun> {
  const { thread_id } = await deployment.client.threads.create();
  await ask(`${deployment.url}/threads/${thread_id}/runs`, { body: { assistant_id: 'echo', input: {}, ...body } });
  return deployment.worker.take();
}

describe('joining the stream of a run in flight', () => {
  it('sends events from now on, under both paths', async () => {
    const run = await startRun();
    await run.emit('values', { n: 1 });
    const joined = await Promise.all([open(`${urlOf(run)}/stream`), open(`${urlOf(run)}/join-stream`)]);
    expect(joined[0].headers['content-type']).toContain('text/event-stream');
    // A joiner is in place once it gets something.
    for (let n = 2; joined.some(({ text }) => text === ''); n++) await run.emit('values', { n });
    await run.succeed({ done: true });
    for (const answer of joined) {
      const events = eventsIn(await answer.complete);
      expect(events.length).toBeGreaterThan(0);
      expect(events).not.toContainEqual(['values', { n: 1 }]);
    }
  });

  it('resumes strictly after the last event id', async () => {
    const run = await startRun({ stream_resumable: true });
    await run.emit('values', { n: 1 });
    const second = await run.emit('values', { n: 2 });
    await run.emit('values', { n: 3 });
    const answer = await open(`${urlOf(run)}/stream`, { headers: { 'last-event-id': second } });
    await answer.until('{"n":3}');
    await run.emit('values', { n: 4 });
    await run.succeed({});
    expect(eventsIn(await answer.complete)).toEqual([
      ['values', { n: 3 }],
      ['values', { n: 4 }],
    ]);
  });

  it('gets a gap where events are missing, and continues behind it', async () => {
    const run = await startRun({ stream_resumable: true });
    const first = await run.emit('values', { n: 1 });
    await run.emit('values', { n: 2 });
    await deployment.forgetEvents(run.claimed.threadId);
    await run.emit('values', { n: 3 });
    const answer = await open(`${urlOf(run)}/stream`, { headers: { 'last-event-id': first } });
    await answer.until('{"n":3}');
    await run.succeed({});
    expect(eventsIn(await answer.complete)).toEqual([
      ['gap', { reason: 'expired', after: first }],
      ['values', { n: 3 }],
    ]);
  });

  it('never hangs when the run ends while the client is joining', async () => {
    const run = await startRun();
    const answer = open(`${urlOf(run)}/stream`);
    await run.succeed({});
    await (await answer).complete;
  });
});

describe('joining the stream of an ended run', () => {
  let run: FakeRun;
  const ids: string[] = [];
  beforeAll(async () => {
    run = await startRun({ stream_resumable: true, stream_mode: ['values', 'updates'] });
    ids.push(
      await run.emit('values', { n: 1 }),
      await run.emit('updates', { n: 2 }),
      await run.emit('values', { n: 3 }),
    );
    await run.succeed({ n: 3 });
  });

  const replay = async (lastEventId?: string, query = '') =>
    eventsIn(
      (
        await ask(`${urlOf(run)}/stream${query}`, {
          headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
        })
      ).text,
    );

  it('sends nothing without a last event id', async () => expect(await replay()).toEqual([]));

  it('sends all that is kept for -1', async () => {
    expect(await replay('-1')).toEqual([
      ['metadata', { run_id: run.claimed.runId, attempt: 1 }],
      ['values', { n: 1 }],
      ['updates', { n: 2 }],
      ['values', { n: 3 }],
    ]);
  });

  it('takes a bare integer as an id', async () => expect(await replay('1')).toHaveLength(4));

  it('sends what came after an id, and not the event of that id again', async () => {
    expect(await replay(ids[1])).toEqual([['values', { n: 3 }]]);
    expect(await replay(ids[2])).toEqual([]);
  });

  it('sends nothing for an invalid id', async () => expect(await replay('run_event_7')).toEqual([]));

  it('filters by stream mode: one, several by comma, as a stringified list, or repeated', async () => {
    const names = async (query: string) => (await replay('-1', query)).map(([event]) => event);
    expect(await names('?stream_mode=updates')).toEqual(['updates']);
    expect(await names('?stream_mode=updates,values')).toEqual(['values', 'updates', 'values']);
    expect(await names(`?stream_mode=${encodeURIComponent('["values"]')}`)).toEqual(['values', 'values']);
    expect(await names('?stream_mode=values&stream_mode=updates')).toEqual(['values', 'updates', 'values']);
    expect((await ask(`${urlOf(run)}/stream?stream_mode=zap`)).status).toBe(422);
  });

  it('replays nothing of a run that was not resumable', async () => {
    const other = await startRun();
    await other.emit('values', { n: 1 });
    await other.succeed({});
    const { text } = await ask(`${urlOf(other)}/stream`, { headers: { 'last-event-id': '-1' } });
    expect(text).toBe('');
  });
});

describe('joining the result of a run', () => {
  it('waits for one in flight', async () => {
    const run = await startRun();
    const answer = await open(`${urlOf(run)}/join`);
    await run.succeed({ n: 1 });
    expect(await answer.complete).toBe('{"n":1}');
  });

  it('answers an ended one at once', async () => {
    const run = await startRun();
    await run.succeed({ n: 1 });
    expect((await ask(`${urlOf(run)}/join`)).text).toBe('{"n":1}');
  });

  it('works from a second client, through the SDK', async () => {
    const run = await startRun();
    const { threadId, runId } = run.claimed;
    const joined = deployment.client.runs.join(threadId, runId);
    await run.succeed({ n: 1 });
    expect(await joined).toEqual({ n: 1 });
  });

  it('of a missing run, or its stream, is 404 before anything else', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const place = `${deployment.url}/threads/${thread_id}/runs/${randomUUID()}`;
    for (const path of ['', '/join', '/stream', '/join-stream']) {
      expect(await ask(place + path), path).toMatchObject({ status: 404, json: { detail: 'Run not found' } });
    }
    expect((await ask(`${deployment.url}/runs/${randomUUID()}/stream`)).status).toBe(404);
    const { claimed } = await startRun();
    expect((await ask(`${deployment.url}/threads/${thread_id}/runs/${claimed.runId}/join`)).status).toBe(404);
  });
});

describe('a stateless run', () => {
  it('is found by its id alone where its headers say', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, {
      body: { assistant_id: 'echo', input: {}, stream_resumable: true },
    });
    const run = await deployment.worker.take();
    expect((await ask(deployment.url + answer.headers['content-location'])).json).toMatchObject({
      run_id: run.claimed.runId,
      thread_id: run.claimed.threadId,
      status: 'running',
    });
    answer.hangUp();
    const joined = await open(deployment.url + answer.headers.location, { headers: { 'last-event-id': '-1' } });
    await run.succeed({});
    expect(eventsIn(await joined.complete)).toEqual([['metadata', { run_id: run.claimed.runId, attempt: 1 }]]);
  });
});
