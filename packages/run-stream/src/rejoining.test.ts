import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareIds, type RunStreams, type StreamEntry } from './index.ts';
import { StreamFixture } from './test/stream-fixture.ts';

/** Two processes of a deployment; readers of the second have hardly any buffer. */
let fixture: StreamFixture;
let processes: RunStreams[];
beforeAll(() => {
  fixture = new StreamFixture();
  processes = [fixture.open(), fixture.open({ readerBufferBytes: 1_000 })];
});
afterAll(() => fixture.close());

/** Some events of one run in one append: up to a thousand of them have the same millisecond. */
interface Append {
  run: number;
  count: number;
  by: number;
}

/** A client that leaves after a number of events, each time, and comes back to another process. */
interface Client {
  /** Undefined: it follows the whole thread. */
  run: number | undefined;
  leavesAfter: number[];
  comesTo: number;
  isSlow: boolean;
}

const append: fc.Arbitrary<Append> = fc.record({
  run: fc.nat({ max: 2 }),
  count: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 1, max: 12 }) },
    { weight: 1, arbitrary: fc.constant(1_100) },
  ),
  by: fc.nat({ max: 1 }),
});
const client: fc.Arbitrary<Client> = fc.record({
  run: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
  leavesAfter: fc.array(fc.integer({ min: 1, max: 15 }), { maxLength: 8 }),
  comesTo: fc.nat({ max: 1 }),
  isSlow: fc.boolean(),
});

class Thread {
  readonly id = randomUUID();
  readonly runs = [randomUUID(), randomUUID(), randomUUID()];

  async write(appends: Append[]): Promise<void> {
    let number = 0;
    for (const { run, count, by } of appends) {
      const events = Array.from({ length: count }, () => ({ ...fixture.event(number++), runId: this.runs[run]! }));
      await processes[by]!.append({ threadId: this.id, epoch: 1n }, events, { resumable: true });
    }
  }

  /** Returns everything that a client gets over all its connections, up to the number of its entries. */
  async follow({ run, leavesAfter, comesTo, isSlow }: Client, total: number): Promise<StreamEntry[]> {
    const got: StreamEntry[] = [];
    const runId = run === undefined ? undefined : this.runs[run]!;
    for (const [visit, leaves] of [...leavesAfter, Number.POSITIVE_INFINITY].entries()) {
      const afterId = got.at(-1)?.id ?? (runId === undefined ? '-1' : undefined);
      const until = got.length + leaves;
      if (got.length === total) return got;
      for await (const entry of processes[(comesTo + visit) % 2]!.read(this.id, { runId, afterId })) {
        got.push(entry);
        if (isSlow) await turn();
        if (got.length === total || got.length >= until) break;
      }
    }
    return got;
  }
}

/** Returns the numbers of the events, in the order of the appends, that a client of that run (or of all) should get. */
function numbersFor(appends: Append[], run: number | undefined): number[] {
  const runOf = appends.flatMap(({ run: of, count }) => Array<number>(count).fill(of));
  return [...runOf.keys()].filter((number) => run === undefined || runOf[number] === run);
}

async function allGetTheirs(appends: Append[], clients: Client[], isLive: boolean): Promise<void> {
  const thread = new Thread();
  const writing = thread.write(appends);
  if (!isLive) await writing;
  const follows = clients.map((each) => thread.follow(each, numbersFor(appends, each.run).length));
  await writing;
  for (const [index, follow] of follows.entries()) {
    const got = await follow;
    expect(got.map(({ data }) => Number(data))).toEqual(numbersFor(appends, clients[index]!.run));
    for (let at = 1; at < got.length; at++) expect(compareIds(got[at - 1]!.id, got[at]!.id)).toBeLessThan(0);
  }
}

it('clients that leave and come back, to any process, get each event once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(append, { minLength: 1, maxLength: 25 }),
      fc.array(client, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      allGetTheirs,
    ),
    { numRuns: 80 },
  );
});
