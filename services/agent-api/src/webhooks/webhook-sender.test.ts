import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClaimedWebhook, WebhookClaim, WebhookContent } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { afterEach, expect, it, vi } from 'vitest';
import type { DeliveryResult } from './deliver-webhook.ts';
import { WebhookSender } from './webhook-sender.ts';

/** Fakes a queue in memory whose tries end when the test says so. */
class SenderFixture {
  due: ClaimedWebhook[] = [];
  underWay = new Map<string, (result: DeliveryResult) => void>();
  settled: DeliveryResult[] = [];
  givenBack: string[] = [];
  postponedMs: number | undefined;
  endedFor: string[] = [];
  failures = 0;
  asked = 0;
  /** True when nothing can be given back. */
  isAway = false;
  readonly warnings: string[] = [];
  readonly sender: WebhookSender;

  constructor(concurrency: number, perHost = concurrency, bytes?: number) {
    this.sender = new WebhookSender({
      ...(bytes !== undefined && { bytes }),
      concurrency,
      perHost,
      queue: {
        claim: async ({ limit, limitPerHost, inFlight }: WebhookClaim) => {
          this.asked += 1;
          if (this.failures-- > 0) throw new Error('away');
          const counts = new Map(inFlight);
          const claimed = this.due
            .filter(({ host }) => {
              const count = (counts.get(host)?.count ?? 0) + 1;
              counts.set(host, { count, bytes: 0 });
              return count <= limitPerHost.count;
            })
            .slice(0, limit.count);
          this.due = this.due.filter((webhook) => !claimed.includes(webhook));
          return { claimed, nextInMs: claimed.length > 0 ? 0 : null };
        },
        recordOutcome: async (outcome) => {
          this.settled.push(outcome as DeliveryResult);
          return true;
        },
        failAllFor: async (url) => {
          this.endedFor.push(url);
          return 1;
        },
        release: async (left, dueInMs) => {
          if (this.isAway) throw new Error('away');
          this.postponedMs = dueInMs;
          this.givenBack = left.map(({ deliveryId }) => deliveryId);
        },
      },
      deliver: ({ url }) => new Promise((resolve) => this.underWay.set(url, resolve)),
      onResult: () => undefined,
      logger: { warn: (text: string) => this.warnings.push(text) } as unknown as Logger,
    });
    this.sender.start();
  }

  add(url: string, host = 'a.test', bytes = 0): void {
    const readContent = async () => ({}) as WebhookContent;
    this.due.push({ deliveryId: randomUUID(), url, host, attempt: 1, waitedMs: 0, bytes, readContent });
    this.sender.wake();
  }

  end(url: string, statusCode = 200): void {
    this.underWay.get(url)!({ kind: 'delivered', deliveryId: url, statusCode } as DeliveryResult);
    this.underWay.delete(url);
  }

  untilStarted(...urls: string[]): Promise<unknown> {
    return waitFor(() => urls.every((url) => this.underWay.has(url)));
  }
}
let fixture: SenderFixture;
afterEach(() => fixture.sender.stop(0));

it('the sender starts as many tries as it has places, and the next when one is free', async () => {
  fixture = new SenderFixture(2);
  for (const url of ['1', '2', '3']) fixture.add(url);
  await fixture.untilStarted('1', '2');
  expect(fixture.underWay.has('3')).toBe(false);
  fixture.end('1');
  await fixture.untilStarted('3');
  expect(fixture.settled.map(({ deliveryId }) => deliveryId)).toEqual(['1']);
});

it('the sender leaves places for other hosts', async () => {
  fixture = new SenderFixture(4, 2);
  for (const url of ['1', '2', '3']) fixture.add(url, 'slow.test');
  fixture.add('4', 'fast.test');
  await fixture.untilStarted('1', '2', '4');
  expect(fixture.underWay.has('3')).toBe(false);
});

it('the sender holds no more than so many bytes at once, and continues when they are sent', async () => {
  fixture = new SenderFixture(4, 4, 100);
  fixture.add('1', 'a.test', 150);
  await fixture.untilStarted('1');
  fixture.add('2', 'b.test', 10);
  expect(await Promise.race([fixture.untilStarted('2').then(() => 'begun'), pause(50, 'waiting')])).toBe('waiting');
  fixture.end('1');
  await fixture.untilStarted('2');
});

it('a receiver that answers 410 is sent nothing more that waits for it', async () => {
  fixture = new SenderFixture(1);
  fixture.add('1');
  await fixture.untilStarted('1');
  fixture.end('1', 410);
  await waitFor(() => fixture.endedFor.length === 1);
  expect(fixture.endedFor).toEqual(['1']);
});

it('a postponed delivery is given back until it is due, and no outcome of it is written', async () => {
  fixture = new SenderFixture(1);
  fixture.add('1');
  await fixture.untilStarted('1');
  fixture.underWay.get('1')!({ kind: 'postponed', retryInMs: 60_000 } as DeliveryResult);
  await waitFor(() => fixture.givenBack.length === 1);
  expect([fixture.postponedMs, fixture.settled]).toEqual([60_000, []]);
});

it('the sender continues when the database is back', async () => {
  fixture = new SenderFixture(1);
  fixture.failures = 1;
  fixture.add('1');
  await waitFor(() => fixture.warnings.length > 0 || fixture.underWay.has('1'));
  fixture.sender.wake();
  await fixture.untilStarted('1');
});

it('a stop gives back what does not end in time, and a late outcome is not written', async () => {
  fixture = new SenderFixture(2);
  fixture.add('1');
  await fixture.untilStarted('1');
  const late = fixture.underWay.get('1')!;
  await fixture.sender.stop(10);
  expect(fixture.givenBack).toHaveLength(1);
  late({ kind: 'delivered' } as DeliveryResult);
  await new Promise((resolve) => setImmediate(resolve));
  expect(fixture.settled).toEqual([]);
});

it('a stop ends while the database is away: deliveries in flight come back with their lease', async () => {
  fixture = new SenderFixture(1);
  fixture.isAway = true;
  fixture.add('1');
  await fixture.untilStarted('1');
  await fixture.sender.stop(0);
  expect(fixture.warnings).toEqual(['releasing webhooks in flight failed']);
});

it('an idle sender asks once, also while all that waits is for a host at its limit, until something wakes it', async () => {
  vi.useFakeTimers();
  try {
    fixture = new SenderFixture(2, 1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(fixture.asked).toBe(1);
    for (const url of ['1', '2']) fixture.add(url);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([...fixture.underWay.keys()]).toEqual(['1']);
    // Twice: for what is added, and once more after something was claimed.
    expect(fixture.asked).toBe(3);
  } finally {
    vi.useRealTimers();
  }
});
