import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StreamFixture } from './test/stream-fixture.ts';

let fixture: StreamFixture;
beforeEach(() => {
  fixture = new StreamFixture();
});
afterEach(() => fixture.close());

const append = (position: number | undefined, { epoch = 1n, runId = fixture.run, events = ['event'] } = {}) =>
  fixture.streams.append(
    { threadId: fixture.thread, epoch },
    events.map((data) => fixture.event(data, runId)),
    { resumable: true, position },
  );
const newest = (runId = fixture.run) => fixture.open().newestPosition(fixture.thread, runId);

it('a stream remembers the last position that its run has named, for every process', async () => {
  expect(await newest()).toBeUndefined();
  await append(2 ** 32 + 1);
  await append(2 ** 33 + 2);
  expect(await newest()).toBe(2 ** 33 + 2);
  expect(await newest(randomUUID())).toBeUndefined();
});

it('appends without a position and appends without events leave it as it is', async () => {
  await append(7);
  await append(undefined);
  await append(9, { epoch: 2n, events: [] });
  expect(await newest()).toBe(7);
});

it('an append that is refused leaves it as it is', async () => {
  await append(7);
  await append(undefined, { epoch: 2n, events: [] });
  await expect(append(8)).rejects.toMatchObject({ name: 'StaleEpochError' });
  expect(await newest()).toBe(7);
});

it('the position of the run before is forgotten with the first append of the next one', async () => {
  await append(7);
  const next = randomUUID();
  await append(1, { epoch: 2n, runId: next });
  expect([await newest(), await newest(next)]).toEqual([undefined, 1]);
});
