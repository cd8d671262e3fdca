import {
  type CloudEvent,
  conforms,
  EVENT_ERROR_CHARACTERS_MAX,
  EVENT_METADATA_BYTES_MAX,
  RunCancelled,
  RunCreated,
  RunFinished,
  RunRetried,
  RunStarted,
  RunUsed,
} from '@runyard/contracts';
import { createDataCipher } from '@runyard/encryption';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AcceptedRun, ClaimedRun, FinishRun } from '../src/runs/types.ts';
import type { ErrorInfo } from '../src/types.ts';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

const SCHEMAS = {
  created: RunCreated,
  started: RunStarted,
  retried: RunRetried,
  cancelled: RunCancelled,
  used: RunUsed,
  finished: RunFinished,
};

type EventName = keyof typeof SCHEMAS;
type EventData = Record<string, unknown>;

const KEY = { kind: 'service_key', identity: 'identity-1', keyId: 'key-1' };
const SECRET = { owner: 'grace', note: null };

let fixture: EngineFixture;
let worker: string;
beforeAll(async () => {
  fixture = await openEngine({ maxFailures: 2 });
  worker = await fixture.worker('revision-7');
});
afterAll(() => fixture.close());

/** Returns the events of a thread in their order, each of which conforms to its schema. */
async function eventsOf(threadId: string, { rows } = fixture): Promise<{ name: EventName; data: EventData }[]> {
  const found = await rows('SELECT event FROM outbox WHERE key = $1 ORDER BY id', [threadId]);
  return found.map(({ event }) => {
    const { type, data } = event as CloudEvent<EventData>;
    const name = type.split('.').at(-1) as EventName;
    expect(conforms(SCHEMAS[name], event)).toBe(true);
    return { name, data };
  });
}

async function dataOf(threadId: string, name: EventName): Promise<EventData> {
  const events = await eventsOf(threadId);
  const named = events.filter((event) => event.name === name);
  expect(named).toHaveLength(1);
  return named[0]!.data;
}

async function create(overrides: Partial<AcceptedRun> = {}): Promise<EventData> {
  const { run } = await fixture.engine.createRun(aRun(overrides));
  return dataOf(run.threadId, 'created');
}

async function claimed(overrides: Partial<AcceptedRun> = {}): Promise<ClaimedRun> {
  const { run } = await fixture.engine.createRun(aRun(overrides));
  const [own] = await fixture.engine.claimRuns(worker, 1, { among: { runIds: [run.runId], threadIds: [] } });
  return own!;
}

/** Metadata with a JSON text of so many bytes. */
function metadataOf(bytes: number): Record<string, unknown> {
  return { filled: 'x'.repeat(bytes - '{"filled":""}'.length) };
}

describe('the event of a created run', () => {
  it('says the graph, the metadata and the creator of the run, who is stored nowhere else', async () => {
    const metadata = { customer: 'c-42', none: null, list: [null, { inner: null }], empty: {} };
    const input = aRun({ graphId: 'writer', metadata, creator: KEY });
    const { run } = await fixture.engine.createRun(input);
    expect(await dataOf(run.threadId, 'created')).toEqual({
      deployment_id: 'test',
      run_id: run.runId,
      thread_id: run.threadId,
      assistant_id: input.assistantId,
      graph_id: 'writer',
      metadata,
      creator: { kind: 'service_key', identity: 'identity-1', key_id: 'key-1' },
    });
    const [row] = await fixture.rows('SELECT r::text AS stored FROM run r WHERE run_id = $1', [run.runId]);
    expect(row!.stored).not.toContain('identity-1');
  });

  it('names no key of a creator without one, and no creator whom nobody knows', async () => {
    expect((await create({ creator: { kind: 'cron', identity: '' } })).creator).toEqual({ kind: 'cron', identity: '' });
    expect(await create()).not.toHaveProperty('creator');
  });

  it('names the creator that the caller of the engine knows, whatever the metadata say', async () => {
    const creator = { kind: 'session', identity: 'somebody else' };
    const metadata = { creator, graph_id: 'other' };
    expect(await create({ metadata, creator: KEY })).toMatchObject({
      graph_id: 'agent',
      metadata,
      creator: { kind: 'service_key', identity: 'identity-1', key_id: 'key-1' },
    });
    expect(await create({ metadata })).not.toHaveProperty('creator');
  });

  it('has metadata up to the limit and leaves out larger ones, which the run keeps', async () => {
    const largest = metadataOf(EVENT_METADATA_BYTES_MAX);
    expect((await create({ metadata: largest, creator: KEY })).metadata).toEqual(largest);
    const larger = metadataOf(EVENT_METADATA_BYTES_MAX + 1);
    const { run } = await fixture.engine.createRun(aRun({ metadata: larger, creator: KEY }));
    const data = await dataOf(run.threadId, 'created');
    expect(data).not.toHaveProperty('metadata');
    expect(data).toMatchObject({ graph_id: 'agent', creator: { identity: 'identity-1' } });
    expect(await fixture.engine.getRun(run.threadId, run.runId)).toMatchObject({ metadata: larger });
    // The limit counts bytes, and these characters have two.
    expect(await create({ metadata: { filled: 'ü'.repeat(EVENT_METADATA_BYTES_MAX / 2) } })).not.toHaveProperty(
      'metadata',
    );
  });

  it('says each of several runs that are created together what is its own', async () => {
    const runs = [1, 2, 3].map((n) =>
      aRun({
        graphId: `graph-${n}`,
        metadata: { n },
        ...(n !== 2 && { creator: { ...KEY, identity: `identity-${n}` } }),
      }),
    );
    const created = await fixture.engine.createRunsTogether(runs);
    const data = await Promise.all(created.map(({ run }) => dataOf(run.threadId, 'created')));
    expect(data).toMatchObject([1, 2, 3].map((n) => ({ graph_id: `graph-${n}`, metadata: { n } })));
    expect(data.map(({ creator }) => (creator as { identity: string } | undefined)?.identity)).toEqual([
      'identity-1',
      undefined,
      'identity-3',
    ]);
  });

  it('has texts that Postgres refuses as they are stored', async () => {
    const creator = { kind: 'project_user', identity: 'a\u0000b' };
    const data = await create({ graphId: 'g\u0000', metadata: { text: 'a\u0000b' }, creator });
    expect(data).toMatchObject({
      graph_id: 'g\ufffd',
      metadata: { text: 'a\ufffdb' },
      creator: { identity: 'a\ufffdb' },
    });
  });

  it('has metadata that the project encrypts as they are stored', async () => {
    const encrypting = await openEngine({ cipher: createDataCipher('k'.repeat(32), 'owner') });
    const { run } = await encrypting.engine.createRun(aRun({ metadata: SECRET }));
    const [created] = await eventsOf(run.threadId, encrypting);
    const [row] = await encrypting.rows('SELECT metadata FROM run WHERE run_id = $1', [run.runId]);
    expect(created!.data.metadata).toEqual(row!.metadata);
    expect(created!.data.metadata).toMatchObject({ note: null });
    expect(JSON.stringify(created)).not.toContain('grace');
    await encrypting.close();
  });
});

describe('the event of a started run', () => {
  it('says the revision of the worker that claims, of each attempt its own', async () => {
    const run = await claimed();
    expect(await dataOf(run.threadId, 'started')).toMatchObject({ attempt: 1, revision_id: 'revision-7' });
    await fixture.engine.releaseRun(run.fence);
    const among = { runIds: [run.runId], threadIds: [] };
    await fixture.engine.claimRuns(await fixture.worker('revision-8'), 1, { among });
    const started = (await eventsOf(run.threadId)).filter(({ name }) => name === 'started');
    expect(started.map(({ data }) => [data.attempt, data.revision_id])).toEqual([
      [1, 'revision-7'],
      [2, 'revision-8'],
    ]);
  });
});

describe('the event of a finished run', () => {
  const fail = (run: ClaimedRun, error: ErrorInfo | null, status: FinishRun['status'] = 'error') =>
    fixture.engine.finishRun(success(run, { status, threadStatus: 'error', values: null, checkpointId: null, error }));

  it.each(['error', 'timeout'] as const)('says the error with which its worker ended it as %s', async (status) => {
    const run = await claimed();
    const error = { error: 'ValueError', message: 'no\u0000 such customer' };
    await fail(run, error, status);
    expect(await dataOf(run.threadId, 'finished')).toEqual({
      deployment_id: 'test',
      run_id: run.runId,
      thread_id: run.threadId,
      assistant_id: run.assistantId,
      attempt: 1,
      status,
      error: { error: 'ValueError', message: 'no\ufffd such customer' },
    });
  });

  it('cuts a long message, which the run keeps, between two characters', async () => {
    const run = await claimed({ keepsThread: true });
    const kept = `${'x'.repeat(EVENT_ERROR_CHARACTERS_MAX - 1)}😀`;
    await fail(run, { error: 'ValueError', message: `${kept}😀 and more` });
    const { error } = await dataOf(run.threadId, 'finished');
    expect(error).toEqual({ error: 'ValueError', message: kept });
    const { error: stored } = (await fixture.engine.getRun(run.threadId, run.runId))!;
    expect(stored!.message).toBe(`${kept}😀 and more`);
  });

  it('has no error that is not a name with a message', async () => {
    for (const error of [
      'text',
      1,
      [],
      {},
      { error: 'ValueError' },
      { error: 'ValueError', message: null },
      { error: 1, message: {} },
    ]) {
      const run = await claimed();
      await fail(run, error as unknown as ErrorInfo);
      expect(await dataOf(run.threadId, 'finished')).not.toHaveProperty('error');
    }
  });

  it('says why a run is given up, after its workers were lost or failed', async () => {
    const lost = await claimed();
    const attempt = async () => {
      const dead = await fixture.worker();
      await fixture.engine.claimRuns(dead, 1, { among: { runIds: [lost.runId], threadIds: [] } });
      await fixture.engine.removeWorker(dead);
      await fixture.engine.sweep();
    };
    await fixture.engine.releaseRun(lost.fence);
    for (let count = 0; count < 2; count += 1) await attempt();
    const names = (await eventsOf(lost.threadId)).map(({ name }) => name);
    expect(names).toEqual(['created', 'started', 'retried', 'started', 'retried', 'started', 'finished']);
    const stored = await fixture.rows('SELECT error FROM run WHERE run_id = $1', [lost.runId]);
    const { error, status } = await dataOf(lost.threadId, 'finished');
    expect(status).toBe('error');
    expect(error).toMatchObject({ error: 'RunAttemptsExhausted' });
    expect(error).toEqual(stored[0]!.error);

    const failing = await claimed();
    const failure = { error: 'GraphHostLost', message: 'm'.repeat(EVENT_ERROR_CHARACTERS_MAX) };
    await fixture.engine.releaseRun(failing.fence, { failure });
    const [again] = await fixture.engine.claimRuns(worker, 1, { among: { runIds: [failing.runId], threadIds: [] } });
    await fixture.engine.releaseRun(again!.fence, { failure });
    const { error: reason } = await dataOf(failing.threadId, 'finished');
    expect((reason as ErrorInfo).message).toHaveLength(EVENT_ERROR_CHARACTERS_MAX);
  });

  it('has no error when the run succeeds, is cancelled, is rolled back or is deleted', async () => {
    const { engine } = fixture;
    const succeeded = await claimed();
    await engine.finishRun(success(succeeded));
    const waiting = (await engine.createRun(aRun({ threadId: await fixture.thread() }))).run;
    await engine.requestCancel({ threadId: waiting.threadId }, 'interrupt', 'test');
    const ends = [succeeded.threadId, waiting.threadId];
    for (const action of ['interrupt', 'rollback'] as const) {
      const run = await claimed({ threadId: await fixture.thread() });
      await engine.requestCancel({ threadId: run.threadId }, action, 'test');
      await fail(run, { error: 'ValueError', message: 'came too late' });
      ends.push(run.threadId);
    }
    const deleted = await claimed({ threadId: await fixture.thread() });
    await engine.deleteRun(deleted.threadId, deleted.runId);
    const orphaned = await claimed({ threadId: await fixture.thread() });
    await engine.deleteThread(orphaned.threadId);
    for (const threadId of [...ends, deleted.threadId, orphaned.threadId]) {
      expect(await dataOf(threadId, 'finished')).not.toHaveProperty('error');
    }
  });
});

describe('the event of what an attempt has used', () => {
  it('says the sum so far, and needs no run that the worker still owns', async () => {
    const { runId, threadId, assistantId, fence } = await claimed();
    const models = [
      {
        provider: 'openai',
        model: 'small',
        calls: 2,
        failed: 0,
        input_tokens: 200,
        output_tokens: 20,
        cache_read_tokens: 0,
        cache_creation_tokens: 0,
        reasoning_tokens: 0,
      },
    ];
    const usage = { models, tools: [{ name: 'look', calls: 1, failed: 1 }] };
    await fixture.engine.releaseRun(fence, {});
    await fixture.engine.recordUsage({ runId, threadId, assistantId, attempt: 1, usage });
    expect(await dataOf(threadId, 'used')).toEqual({
      deployment_id: 'test',
      run_id: runId,
      thread_id: threadId,
      assistant_id: assistantId,
      attempt: 1,
      ...usage,
    });
  });
});
