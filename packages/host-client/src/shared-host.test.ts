import { expect, it } from 'vitest';
import { SharedHost } from './shared-host.ts';
import type { GraphHost } from './types.ts';

const forever = new AbortController().signal;
const hostNamed = (name: string) => ({ name }) as unknown as GraphHost;

it('a server that waits for the host gets the next one, and later the one that takes new runs then', async () => {
  const shared = new SharedHost();
  let current: GraphHost | undefined;
  shared.offerHosts(() => current);
  const waiting = [shared.current(forever), shared.current(forever)];
  current = hostNamed('first');
  shared.hostReady();
  expect(await Promise.all(waiting)).toEqual([hostNamed('first'), hostNamed('first')]);
  current = undefined;
  expect(shared.host).toBeUndefined();
  const next = shared.current(forever);
  current = hostNamed('second');
  shared.hostReady();
  expect(await next).toEqual(hostNamed('second'));
});

it('each side waits for the other in any order, and no longer than its signal says', async () => {
  const shared = new SharedHost();
  const loopback = shared.loopback(forever);
  shared.offerLoopback({ socketPath: '/a', token: 't' });
  expect(await loopback).toEqual({ socketPath: '/a', token: 't' });
  const stopping = new AbortController();
  const started = shared.started(stopping.signal);
  stopping.abort();
  await expect(started).rejects.toThrow();
  expect(shared.wakeWorker()).toBe(false);
  shared.workerReady(() => true);
  expect(shared.wakeWorker()).toBe(true);
  await shared.started(forever);
});
