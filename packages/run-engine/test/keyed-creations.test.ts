import { randomUUID } from 'node:crypto';
import { type KeyedRequest, KeyTakenError } from '@runyard/idempotency';
import { ConflictError, NotFoundError } from '@runyard/service-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunEngine } from '../src/engine.ts';
import type { RunRecord } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine } from './engine-fixture.ts';

let fixture: EngineFixture;
let another: RunEngine;
beforeEach(async () => {
  fixture = await openEngine();
  another = new RunEngine({ pool: fixture.pool, deploymentId: 'test', source: '/runyard/another' });
});
afterEach(async () => {
  await another.close();
  await fixture.close();
});

function requestFor(key: string): KeyedRequest {
  const bytes = Buffer.from(key.padEnd(32, '.'));
  const encrypt = (answer: unknown) => Buffer.from(JSON.stringify(answer));
  return { id: bytes, digest: bytes, claim: randomUUID(), keptMs: 60_000, encrypt };
}
const keyed = (key: string) => ({ request: requestFor(key), answerOf: ({ runId }: RunRecord) => runId });
const bound = async () =>
  Object.fromEntries(
    (await fixture.rows('SELECT id, answer FROM idempotency_key')).map(({ id, answer }) => [
      String(id).replace(/\.+$/, ''),
      answer && JSON.parse(String(answer)),
    ]),
  );
const runs = async () => Number((await fixture.rows('SELECT count(*) AS n FROM run'))[0]!.n);

describe('runs created with a key', () => {
  it('are created once, even in one batch and by two processes at once, and others of the batch succeed', async () => {
    const engines = [fixture.engine, another];
    const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`);
    const outcomes = await Promise.allSettled(
      keys.flatMap((key) =>
        Array.from({ length: 6 }, (_, index) => engines[index % 2]!.createRun(aRun({ keyed: keyed(key) }))),
      ),
    );
    const plain = await Promise.all(engines.map((engine) => engine.createRun(aRun())));
    const created = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.run.runId] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(created).toHaveLength(10);
    expect(refused.every((error) => error instanceof KeyTakenError)).toBe(true);
    expect(Object.values(await bound()).sort()).toEqual(created.sort());
    expect(await runs()).toBe(10 + plain.length);
  });

  it('that are refused leave their key free, and others of their batch succeed', async () => {
    const { engine } = fixture;
    const threadId = await fixture.thread();
    const reject = () => aRun({ threadId, keepsThread: true, multitaskStrategy: 'reject', keyed: keyed('busy') });
    await engine.createRun(aRun({ threadId, keepsThread: true }));
    const [busy, missing, fine] = await Promise.allSettled([
      engine.createRun(reject()),
      engine.createRun(aRun({ threadId: randomUUID(), keepsThread: true, keyed: keyed('missing') })),
      engine.createRun(aRun({ keyed: keyed('fine') })),
    ]);
    expect(busy).toMatchObject({ reason: expect.any(ConflictError) });
    expect(missing).toMatchObject({ reason: expect.any(NotFoundError) });
    expect(fine).toMatchObject({ status: 'fulfilled' });
    expect(Object.keys(await bound())).toEqual(['fine']);
    const { run } = await engine.createRun(aRun({ keyed: keyed('busy') }));
    expect(await bound()).toMatchObject({ busy: run.runId });
  });

  it('are found when the request is repeated, before the thread that they made busy is checked, or one is created', async () => {
    const { engine } = fixture;
    const threadId = randomUUID();
    const ask = () =>
      engine.createRun(
        aRun({
          threadId,
          keepsThread: true,
          ifThreadMissing: 'create',
          multitaskStrategy: 'reject',
          keyed: keyed('once'),
        }),
      );
    await ask();
    await expect(ask()).rejects.toThrow(KeyTakenError);
    await engine.deleteThread(threadId);
    await expect(ask()).rejects.toThrow(KeyTakenError);
    expect(await fixture.rows('SELECT 1 FROM thread')).toEqual([]);
  });

  it('fail alone when Postgres refuses their data', async () => {
    const faulty = aRun({ keyed: keyed('faulty'), assistantId: 'no uuid' });
    const [refused, fine] = await Promise.allSettled([
      fixture.engine.createRun(faulty),
      fixture.engine.createRun(aRun({ keyed: keyed('fine') })),
    ]);
    expect([refused.status, fine.status]).toEqual(['rejected', 'fulfilled']);
    expect(Object.keys(await bound())).toEqual(['fine']);
  });

  it('by one request are created together or not at all', async () => {
    const create = (engine: RunEngine) =>
      engine.createRunsTogether([aRun(), aRun({ keepsThread: true }), aRun()], {
        request: requestFor('batch'),
        answerOf: (made) => made.map(({ runId }) => runId),
      });
    const outcomes = await Promise.allSettled([create(fixture.engine), create(another), create(fixture.engine)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await runs()).toBe(3);
    expect((await bound()).batch).toHaveLength(3);
    const faulty = fixture.engine.createRunsTogether([aRun(), aRun({ assistantId: 'no uuid' })], {
      request: requestFor('faulty'),
      answerOf: () => [],
    });
    await expect(faulty).rejects.toThrow();
    expect(await runs()).toBe(3);
    expect(Object.keys(await bound())).toEqual(['batch']);
  });
});

describe('threads created with a key', () => {
  const made = (key: string, threadId: string) => ({
    request: requestFor(key),
    answerOf: async () => threadId,
  });

  it('are created once, or returned as they are', async () => {
    const make = (engine: RunEngine, threadId: string = randomUUID()) =>
      engine.createThread({ threadId, metadata: {}, ifExists: 'do_nothing' }, made('thread', threadId));
    const outcomes = await Promise.allSettled([make(fixture.engine), make(another), make(another)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await fixture.rows('SELECT thread_id FROM thread')).toEqual([{ thread_id: (await bound()).thread }]);
    const existing = String((await bound()).thread);
    await fixture.engine.createThread(
      { threadId: existing, metadata: {}, ifExists: 'do_nothing' },
      made('other', existing),
    );
    expect(await bound()).toMatchObject({ other: existing });
  });

  it('bind no key when no thread is created', async () => {
    const threadId = await fixture.thread();
    const again = fixture.engine.createThread({ threadId, metadata: {}, ifExists: 'raise' }, made('again', threadId));
    await expect(again).rejects.toThrow(ConflictError);
    const copyId = randomUUID();
    const copy = (sourceId: string) =>
      fixture.engine.histories.copy({ sourceId, threadId: copyId, metadata: {} }, made('copy', copyId));
    expect(await copy(randomUUID())).toBeUndefined();
    expect(await bound()).toEqual({});
    expect(await copy(threadId)).toEqual({ isStateOutdated: false, isOfBusy: false });
    await expect(copy(threadId)).rejects.toThrow(KeyTakenError);
    expect(await bound()).toEqual({ copy: copyId });
  });
});
