import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { withDeadline } from './deadline.ts';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;
const FOREVER_MS = 3_600_000;
const never = () => new AbortController().signal;

describe('work with a deadline', () => {
  it('is aborted, however often garbage is collected', async () => {
    const collecting = setInterval(collectGarbage, 10);
    const work = withDeadline(never(), 200, (signal) =>
      pause(FOREVER_MS, undefined, { signal: AbortSignal.any([signal, never()]) }),
    );
    await expect(work).rejects.toMatchObject({ cause: { name: 'TimeoutError', message: 'not done within 200 ms' } });
    clearInterval(collecting);
  });

  it('is aborted when the outer signal is, before or during the work', async () => {
    const outer = new AbortController();
    const work = () => withDeadline(outer.signal, FOREVER_MS, (signal) => pause(FOREVER_MS, undefined, { signal }));
    const first = work();
    outer.abort(new Error('no longer wanted'));
    await expect(first).rejects.toMatchObject({ cause: { message: 'no longer wanted' } });
    await expect(work()).rejects.toMatchObject({ cause: { message: 'no longer wanted' } });
  });

  it('that ends in time is not aborted later', async () => {
    const signal = await withDeadline(undefined, 20, async (given) => given);
    await pause(60);
    expect(signal.aborted).toBe(false);
  });
});
