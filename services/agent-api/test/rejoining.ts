import { waitFor } from '@runyard/test-kit';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { open } from './raw-http.ts';

/** One run of the thread: its events, by the size of each append, and whether it can be read after its end. */
interface RunScript {
  counts: number[];
  isResumable: boolean;
}

/** A client of the thread, or of one of its runs, that disconnects after so many events each time. */
interface Client {
  /** Undefined for the whole thread. */
  run: number | undefined;
  hangsUpAfter: number[];
}

interface ReceivedEvent {
  id: string;
  text: string;
}

const runScript: fc.Arbitrary<RunScript> = fc.record({
  counts: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
  isResumable: fc.boolean(),
});
const client: fc.Arbitrary<Client> = fc.record({
  run: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
  hangsUpAfter: fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 5 }),
});

/** Returns all events of a URL up to `total`, over as many connections as the client opens. */
async function follow(url: string, hangsUpAfter: number[], total: number, firstId: string): Promise<ReceivedEvent[]> {
  const got: ReceivedEvent[] = [];
  for (const leaves of [...hangsUpAfter, total]) {
    if (got.length >= total) break;
    const wanted = Math.min(got.length + leaves, total);
    const answer = await open(url, { headers: { 'last-event-id': got.at(-1)?.id ?? firstId } });
    const received = () => [...answer.text.matchAll(/(event: .*\r\ndata: .*)\r\nid: (.*)\r\n\r\n/g)];
    await waitFor(() => received().length >= wanted - got.length, { what: `${wanted} of ${total} events of ${url}` });
    answer.hangUp();
    // The client knows what it has read: events in transit are sent again.
    got.push(
      ...received()
        .slice(0, wanted - got.length)
        .map(([, text, id]) => ({ text: text!, id: id! })),
    );
  }
  return got;
}

/** Has the runs emit their events, one after the other; yields the events of each as they have to be sent. */
async function* play(
  deployment: TestDeployment,
  threadId: string,
  runs: RunScript[],
): AsyncGenerator<{ runId: string; events: string[] }> {
  for (const { counts, isResumable } of runs) {
    await deployment.client.runs.create(threadId, 'echo', { input: {}, streamResumable: isResumable });
    const run = await deployment.worker.take();
    const { runId } = run.claimed;
    const events = [`event: metadata\r\ndata: {"run_id":"${runId}","attempt":1}`];
    for (const count of counts) {
      const numbers = Array.from({ length: count }, (_, index) => events.length + index);
      await run.emitTogether('custom', numbers);
      events.push(...numbers.map((number) => `event: custom\r\ndata: ${number}`));
    }
    await run.succeed({});
    yield { runId, events };
  }
}

async function expectEveryEvent(deployment: TestDeployment, runs: RunScript[], clients: Client[]): Promise<void> {
  const { thread_id: threadId } = await deployment.client.threads.create();
  const thread = `${deployment.url}/threads/${threadId}`;
  const first = await open(`${thread}/stream?stream_mode=run_modes`);
  const playing = play(deployment, threadId, runs);
  const played = [(await playing.next()).value!];
  const [, firstId] = /id: (.*)\r\n/.exec(await first.until('\r\nid: '))!;
  const total = runs.reduce((sum, { counts }) => sum + 2 + counts.reduce((a, b) => a + b), 0);
  const ofThread = clients.filter(({ run }) => run === undefined);
  const following = ofThread.map((each) => follow(`${thread}/stream`, each.hangsUpAfter, total - 1, firstId!));
  for await (const run of playing) played.push(run);

  const whole = played.flatMap(({ runId, events }) => [
    ...events,
    `event: metadata\r\ndata: {"status":"run_done","run_id":"${runId}"}`,
  ]);
  for (const received of await Promise.all(following)) expect(received.map(({ text }) => text)).toEqual(whole.slice(1));
  first.hangUp();
  for (const { run, hangsUpAfter } of clients) {
    const index = (run ?? 0) % runs.length;
    if (run === undefined || !runs[index]!.isResumable) continue;
    const { runId, events } = played[index]!;
    const received = await follow(`${thread}/runs/${runId}/stream`, hangsUpAfter, events.length, '-1');
    expect(received.map(({ text }) => text)).toEqual(events);
  }
}

/**
 * Runs random runs of a thread, and clients that disconnect and return at random: each event is sent once, in order.
 */
export async function expectNoLossOnReconnect(deployment: TestDeployment): Promise<void> {
  const runs = fc.array(runScript, { minLength: 1, maxLength: 4 });
  const clients = fc.array(client, { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(runs, clients, (...played) => expectEveryEvent(deployment, ...played));
  await fc.assert(property, { numRuns: 20 });
}
