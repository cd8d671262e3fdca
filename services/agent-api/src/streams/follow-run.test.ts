import type { ReadOptions, StreamEntry } from '@runyard/run-stream';
import { expect, it } from 'vitest';
import { followRun } from './follow-run.ts';
import { RunWatch } from './run-watch.ts';

const entry = (id: number, kind: string): StreamEntry => ({
  id: `${id}-0`,
  runId: 'r',
  attempt: 1,
  isResumable: false,
  kind,
  event: kind,
  data: '{}',
});

/** A stream that gives the entries and then stays open until it is over or its signal comes. */
function streamOf(entries: StreamEntry[]) {
  return {
    async *read(_threadId: string, { signal, over }: ReadOptions = {}) {
      for (const each of entries) yield each;
      const ends = [signal, over].filter((each) => each !== undefined);
      if (ends.some(({ aborted }) => aborted)) return;
      await new Promise((resolve) => {
        for (const each of ends) each.addEventListener('abort', resolve);
      });
    },
  };
}

function watching(inFlight: () => boolean) {
  return new RunWatch({
    findInFlight: async (runIds) => new Set(inFlight() ? runIds : []),
    onError: (error) => expect.unreachable(String(error)),
  });
}

async function collect(entries: AsyncIterable<StreamEntry>): Promise<string[]> {
  const kinds: string[] = [];
  for await (const { kind } of entries) kinds.push(kind);
  return kinds;
}

it('ends with the end of the run', async () => {
  const watch = watching(() => true);
  const followed = followRun({
    streams: streamOf([entry(1, 'values'), entry(2, 'run.end'), entry(3, 'values')]),
    watch,
    threadId: 't',
    runId: 'r',
    signal: new AbortController().signal,
  });
  expect(await collect(followed)).toEqual(['values', 'run.end']);
  expect(watch.size).toBe(0);
});

it('never hangs: a run found over ends the stream although its last event was lost', async () => {
  let inFlight = true;
  const watch = watching(() => inFlight);
  const followed = collect(
    followRun({
      streams: streamOf([entry(1, 'values')]),
      watch,
      threadId: 't',
      runId: 'r',
      signal: new AbortController().signal,
    }),
  );
  inFlight = false;
  await watch.check();
  expect(await followed).toEqual(['values']);
});

it('stops reading when the client is gone', async () => {
  const client = new AbortController();
  const watch = watching(() => true);
  const followed = collect(
    followRun({ streams: streamOf([]), watch, threadId: 't', runId: 'r', signal: client.signal }),
  );
  client.abort();
  expect(await followed).toEqual([]);
  expect(watch.size).toBe(0);
});
