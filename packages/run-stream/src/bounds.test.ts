import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RANGE } from './scripts/range.ts';
import { StreamFixture } from './test/stream-fixture.ts';

const MEGABYTE = 1024 * 1024;
let fixture: StreamFixture;
beforeEach(() => {
  fixture = new StreamFixture();
});
afterEach(() => fixture.close());

it('a thread stores a limited number of bytes, reports trimmed entries, and earlier readers get the gap', async () => {
  let trimmed = 0;
  const bounded = fixture.open({
    maxBytesPerThread: 4 * MEGABYTE,
    onTrim: (entries) => {
      trimmed += entries;
    },
  });
  const ids: string[] = [];
  const text = 'x'.repeat(100_000);
  for (let round = 0; round < 20; round += 1) {
    ids.push(...(await fixture.append(Array(10).fill(text), { by: bounded })));
  }
  const kept = await fixture.admin.xlen(fixture.key('events'));
  expect(kept * text.length).toBeGreaterThan(3.9 * MEGABYTE);
  expect(kept * text.length).toBeLessThan(6.5 * MEGABYTE);
  expect(trimmed).toBe(200 - kept);
  expect(await fixture.admin.llen(fixture.key('sizes'))).toBeLessThan(8);
  const across = fixture.collect({ afterId: ids[0] });
  expect((await across.until(kept + 1))[0]).toBe('gap');
  const within = fixture.collect({ afterId: ids[200 - kept] });
  expect((await within.until(kept - 1))[0]).toBe(text);
});

it('a single append stays whole, however large', async () => {
  const bounded = fixture.open({ maxBytesPerThread: MEGABYTE });
  await fixture.append(['old'], { by: bounded });
  const [first] = await fixture.append(Array(4).fill('x'.repeat(MEGABYTE)), { by: bounded });
  expect((await fixture.admin.xrange(fixture.key('events'), first!, '+')).length).toBe(4);
});

it("entries of any size are read page by page, and a run's few are found among many of other runs", async () => {
  const mine = randomUUID();
  const others = randomUUID();
  for (let round = 0; round < 6; round += 1) {
    await fixture.append(Array(400).fill('x'.repeat(2_000)), { runId: others });
    await fixture.append([round], { runId: mine });
  }
  await fixture.append(['y'.repeat(3 * MEGABYTE), 'z'.repeat(3 * MEGABYTE)], { runId: mine });
  const reader = fixture.collect({ runId: mine, afterId: '-1' });
  const got = await reader.until(8);
  expect(got.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(got.slice(6).map((text) => String(text)[0])).toEqual(['y', 'z']);
});

/** Wraps a script so that it records the largest range that it read from the stream. */
const noting = (script: string, key: string) => `
local server, largest = redis, 0
local redis = { call = function(command, ...)
  local reply = server.call(command, ...)
  if command == 'XRANGE' then
    local bytes = 0
    for _, entry in ipairs(reply) do bytes = bytes + #entry[2][2] end
    largest = math.max(largest, bytes)
    server.call('SET', '${key}', largest)
  end
  return reply
end }
${script}`;

it('one read fetches about a megabyte at most, even when large entries follow small ones', async () => {
  await fixture.append(Array(300).fill('token'));
  for (let round = 0; round < 24; round += 1) await fixture.append(['x'.repeat(MEGABYTE / 2)]);
  const noted = `${fixture.key('events')}:noted`;
  const keys = [fixture.key('events'), fixture.key('head'), fixture.key('sizes')];
  const page = (await fixture.admin.eval(noting(RANGE, noted), 3, ...keys, '', '', `${MEGABYTE / 4}`)) as string[];
  expect(page.filter((text) => text.includes('xxx'))).toHaveLength(1);
  expect(Number(await fixture.admin.get(noted))).toBeLessThan(2 * MEGABYTE);
});
