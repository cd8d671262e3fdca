import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { APPEND } from './scripts/append.ts';
import { StreamFixture } from './test/stream-fixture.ts';

let fixture: StreamFixture;
beforeEach(() => {
  fixture = new StreamFixture();
});
afterEach(() => fixture.close());

/** The script that answers with how many values it has got from Redis. */
const COUNTED = `
local taken = 0
local function taking(...)
  local reply = redis.call(...)
  taken = taken + (type(reply) == 'table' and #reply or 1)
  return reply
end
${APPEND.replaceAll('redis.call(', 'taking(').replace(/return \{ firstId, trimmed \}\s*$/, 'return taken')}`;

const KEYS = ['events', 'head', 'ends', 'sizes', 'told', 'starts'] as const;

/** Appends a run's last entry, and returns how many values Redis gave the script. */
async function countEnd(runId: string): Promise<number> {
  const limits = ['0', '-1', '100000', '3600000', '180000', '120000', '10000', '1', '268435456', ''];
  const keys = [...KEYS.map((part) => fixture.key(part)), fixture.key('live')];
  return (await fixture.admin.eval(
    COUNTED,
    KEYS.length,
    ...keys,
    '1',
    runId,
    '1',
    '0',
    ...limits,
    `${runId}`,
  )) as number;
}

async function endRuns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await fixture.append([index], { runId: randomUUID(), endsRun: true });
}

it('an end reads no more from Redis when its thread stores a thousand ended runs than with ten', async () => {
  await endRuns(10);
  const few = await countEnd(randomUUID());
  await endRuns(1_000);
  expect(await fixture.admin.hlen(fixture.key('head'))).toBeGreaterThan(2_000);
  expect(await countEnd(randomUUID())).toBe(few);
});

describe('with processes of the previous release on the same thread', () => {
  /** Appends an entry of a run as that release does: it keeps the fields of the head alone. */
  async function appendEarlier(runId: string): Promise<void> {
    const { admin } = fixture;
    const [ms] = (await admin.hget(fixture.key('head'), 'last'))!.split('-');
    const id = `${Number(ms) + 1}-0`;
    await admin.xadd(fixture.key('events'), id, 'e', `${runId}\x1f1\x1fcustom\x1fcustom\x1f"earlier"`);
    const [last, before] = await admin.hmget(fixture.key('head'), 'last', 'run');
    await admin.hset(
      fixture.key('head'),
      'last',
      id,
      'run',
      runId,
      `start:${runId}`,
      `1 ${last}`,
      `stop:${before}`,
      `${last}`,
    );
  }
  /** Ends a run as that release does. */
  async function endEarlier(runId: string): Promise<void> {
    const { admin } = fixture;
    const start = await admin.hget(fixture.key('head'), `start:${runId}`);
    const last = await admin.hget(fixture.key('head'), 'last');
    await admin.rpush(fixture.key('ends'), `${Date.now() + 120_000} ${last} ${runId}`);
    await admin.hset(fixture.key('head'), `start:${runId}`, `e${start!.slice(1)}`);
  }
  const ttl = () => fixture.admin.pttl(fixture.key('events'));

  it('a run that one of them has begun keeps the stream when the others have ended', async () => {
    const earlier = randomUUID();
    await fixture.append([1]);
    await appendEarlier(earlier);
    await fixture.streams.expireRun(fixture.thread, fixture.run);
    expect(await ttl()).toBeGreaterThan(3_600_000);
    await fixture.streams.expireRun(fixture.thread, earlier);
    expect(await ttl()).toBeLessThanOrEqual(120_000);
  });

  it('a run that one of them has ended keeps the stream no longer', async () => {
    const next = randomUUID();
    await fixture.append([1]);
    await fixture.append([2], { runId: next });
    await endEarlier(fixture.run);
    await fixture.streams.expireRun(fixture.thread, next);
    expect(await ttl()).toBeLessThanOrEqual(120_000);
  });

  it('a thread that they have begun goes on', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await fixture.append([1], { runId: first, endsRun: true });
    // They know neither of the two.
    await fixture.admin.del(fixture.key('starts'));
    await fixture.admin.hdel(fixture.key('head'), 'open', 'seen');
    await fixture.append([2], { runId: second });
    expect(await ttl()).toBeGreaterThan(3_600_000);
    await fixture.streams.expireRun(fixture.thread, second);
    expect(await ttl()).toBeLessThanOrEqual(120_000);
    expect(await fixture.admin.zcard(fixture.key('starts'))).toBe(2);
  });
});
