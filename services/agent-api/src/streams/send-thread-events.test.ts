import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONTROL_KINDS, gapAfter, type ReadOptions, type StreamEntry } from '@runyard/run-stream';
import { expect, it } from 'vitest';
import { OpenResponses } from './open-responses.ts';
import { RunWatch } from './run-watch.ts';
import { sendThreadEvents } from './send-thread-events.ts';

interface Sent {
  text: string;
  /** The runs whose end is looked for. */
  endedIds: string[];
  /** The id after which the thread is read. */
  readAfter: string | undefined;
}

/** Returns what a client gets of a thread whose newest entry, as it comes, is 5-0, and which then has these. */
async function sendEntries(entries: StreamEntry[], afterId?: string): Promise<Sent> {
  const watch = new RunWatch({ findInFlight: async () => new Set(), onError: () => undefined });
  const endedIds: string[] = [];
  let readAfter: string | undefined;
  const sources = {
    streams: {
      newestId: async () => '5-0',
      async *read(_threadId: string, options: ReadOptions) {
        readAfter = options.afterId;
        yield* entries;
        await watch.check();
      },
    },
    threadWatch: new RunWatch({ findInFlight: async () => new Set(['t']), onError: () => undefined }),
    watch,
    ends: {
      findOrPublish: async ({ runId }: { runId: string }) => {
        endedIds.push(runId);
        return { isPublished: true, events: [] };
      },
    },
    open: new OpenResponses(),
  };
  const thread = { threadId: 't', afterId, modes: new Set(['run_modes']) };
  const server = createServer((_req, res) => void sendThreadEvents(sources, thread, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const text = await answer.text();
  server.close();
  return { text, endedIds, readAfter };
}

let entries = 0;
function entryOf(runId: string, event: Pick<StreamEntry, 'kind' | 'event' | 'data'>): StreamEntry {
  entries += 1;
  return { id: `${entries}-0`, runId, attempt: 1, isResumable: false, ...event };
}
const emitted = { kind: 'custom', event: 'custom', data: '1' };
const end = { kind: CONTROL_KINDS.end, event: 'end', data: '{"status":"success"}' };

it('the end of a run with events is looked for when nobody publishes it', async () => {
  const { endedIds } = await sendEntries([entryOf('told', emitted), entryOf('told', end), entryOf('untold', emitted)]);
  expect(endedIds).toEqual(['untold']);
});

it('a gap in front of another run is sent, and causes no end of the run that lost something there', async () => {
  const lost = gapAfter('0-1', 'lost');
  const { text, endedIds } = await sendEntries([entryOf('over', lost), entryOf('now', emitted), entryOf('now', end)]);
  expect(text).toContain('"reason":"lost"');
  expect(endedIds).toEqual([]);
});

it.each([
  ['without an id', undefined, '5-0'],
  ['with an earlier id', '3-0', '3-0'],
  ['with an id that was never issued', '9-0', '5-0'],
])('%s a thread is read from where it was when the headers went out', async (_with, afterId, expected) => {
  expect((await sendEntries([], afterId)).readAfter).toBe(expected);
});
