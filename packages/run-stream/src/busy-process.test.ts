import { afterEach, beforeEach, expect, it } from 'vitest';
import { StreamFixture } from './test/stream-fixture.ts';

let fixture: StreamFixture;
beforeEach(() => {
  fixture = new StreamFixture();
});
afterEach(() => fixture.close());

/** Blocks this process. */
function busyFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('a process that was busy for longer than its time limit does not treat Redis as silent', async () => {
  const busy = fixture.open({ timeoutMs: 150 });
  await fixture.append([1], { by: busy });
  const connection = async () => (await fixture.connections()).map((line) => /id=(\d+)/.exec(line)?.[1]);
  const before = await connection();
  for (let round = 0; round < 3; round += 1) {
    const appended = fixture.append([2], { by: busy });
    // The command is sent before the process is busy, and its answer comes while it is.
    await new Promise((resolve) => setImmediate(resolve));
    busyFor(400);
    await appended;
  }
  expect(await connection()).toEqual(before);
});
