import { setTimeout as pause } from 'node:timers/promises';
import { followStream } from './event-follower.ts';
import { History } from './history.ts';
import type { Storm, StormAnswers } from './storm-client.ts';

const TIMEOUT_MS = 60_000;

process.on('message', (storm: Storm) => {
  void answer(storm).then((answers) => process.send?.(answers));
});
process.send?.('ready');

async function answer({ calls = [], streams = [] }: Storm): Promise<StormAnswers> {
  const history = new History();
  const sent = [
    ...calls.map(
      ({ method, url, ...options }) =>
        () =>
          history.call(method, url, options),
    ),
    ...streams.map(({ url, ...options }) => async () => {
      const segment = await followStream(url, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
      return { status: segment.status, end: segment.end, ids: segment.events.map(({ id }) => id) };
    }),
  ];
  const { answers, seconds } = await withinOneSecond<unknown>(sent);
  return {
    sendingSeconds: seconds,
    calls: answers.slice(0, calls.length) as StormAnswers['calls'],
    streams: answers.slice(calls.length) as StormAnswers['streams'],
  };
}

/** Starts all of them evenly within a second; resolves when all have ended. */
async function withinOneSecond<T>(starts: readonly (() => Promise<T>)[]): Promise<{ answers: T[]; seconds: number }> {
  const begunAt = performance.now();
  const begun: Promise<T>[] = [];
  while (begun.length < starts.length) {
    const due = Math.ceil(((performance.now() - begunAt) / 1_000) * starts.length) + 1;
    for (const start of starts.slice(begun.length, due)) begun.push(start());
    await pause(5);
  }
  const seconds = (performance.now() - begunAt) / 1_000;
  return { answers: await Promise.all(begun), seconds };
}
