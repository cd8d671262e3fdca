import { randomUUID } from 'node:crypto';
import { type CloudEvent, KeyIssued, KeyRevoked, RunFinished } from '@runyard/contracts';
import { isKafkaAvailable, testKafka, testRedis, waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENTS_OF_BATCH } from './event-bus.ts';
import {
  createEventBus,
  type EventBus,
  type EventBusConfig,
  type KeyedEvent,
  makeEvent,
  type Subscription,
} from './index.ts';
import { startConsumerProcess } from './test/consumer-process.ts';
import { publishRaw } from './test/publish-raw.ts';
import { recordingLogger } from './test/recording-logger.ts';

const adapters: Record<string, () => { config: EventBusConfig; cleanUp(): Promise<void> }> = {
  kafka: () => {
    const config = { kind: 'kafka' as const, clientId: 'test', sessionTimeoutMs: 6_000, ...testKafka() };
    return { config, cleanUp: async () => undefined };
  },
  redis: () => {
    const { url, prefix, close } = testRedis();
    return { config: { kind: 'redis', url, prefix, sessionTimeoutMs: 1_000 }, cleanUp: close };
  },
};

const organization = randomUUID();
const issued = (keyId = randomUUID(), key = organization): KeyedEvent => ({
  key,
  event: makeEvent(KeyIssued, { source: '/test', subject: key, data: { organization_id: key, key_id: keyId } }),
});

describe.each(Object.keys(adapters).filter((name) => name !== 'kafka' || isKafkaAvailable()))(
  'event bus on %s',
  (name) => {
    let config: EventBusConfig;
    let cleanUp: () => Promise<void>;
    let buses: EventBus[];
    let bus: EventBus;
    let log: ReturnType<typeof recordingLogger>;

    const open = (): EventBus => {
      const opened = createEventBus(config, { logger: log.logger });
      buses.push(opened);
      return opened;
    };
    beforeEach(() => {
      ({ config, cleanUp } = adapters[name]!());
      buses = [];
      log = recordingLogger();
      bus = open();
    });
    afterEach(async () => {
      await Promise.all(buses.map((one) => one.close()));
      await cleanUp();
    });

    /** Subscribes to `organizations` and records what arrives. */
    async function listen(
      options: {
        by?: EventBus;
        group?: string;
        from?: 'latest' | 'earliest';
        onEvent?: (event: CloudEvent) => Promise<void>;
      } = {},
    ): Promise<{ got: CloudEvent[]; ids(): string[]; subscription: Subscription }> {
      const got: CloudEvent[] = [];
      const subscription = await (options.by ?? bus).subscribe({
        topics: ['organizations'],
        group: options.group ?? 'group',
        from: options.from ?? 'latest',
        onEvent: async (event) => {
          await options.onEvent?.(event);
          got.push(event);
        },
      });
      return { got, ids: () => got.map(({ id }) => id), subscription };
    }
    /** Subscribes to `organizations` in batches and records the ids of those that were applied. */
    async function listenForBatches(
      options: { by?: EventBus; from?: 'latest' | 'earliest'; onEvents?: (events: CloudEvent[]) => Promise<void> } = {},
    ): Promise<{ batches: string[][]; subscription: Subscription }> {
      const batches: string[][] = [];
      const subscription = await (options.by ?? bus).subscribe({
        topics: ['organizations'],
        group: 'group',
        from: options.from ?? 'latest',
        onEvents: async (events) => {
          await options.onEvents?.(events);
          batches.push(events.map(({ id }) => id));
        },
      });
      return { batches, subscription };
    }
    const idsOf = (events: KeyedEvent[]) => events.map(({ event }) => event.id);

    it('delivers events published after the subscription unchanged', async () => {
      const { got } = await listen();
      const sent = issued();
      await bus.publish('organizations', [sent]);
      await waitFor(() => got.length === 1);
      expect(got).toEqual([sent.event]);
    });

    it('delivers each group its own copy and keeps the topics apart', async () => {
      const first = await listen({ group: 'first' });
      const second = await listen({ group: 'second' });
      const ofRuns: string[] = [];
      await bus.subscribe({
        topics: ['runs', 'organizations'],
        group: 'both',
        from: 'latest',
        onEvent: async (_event, topic) => void ofRuns.push(topic),
      });
      const run = { deployment_id: 'd', run_id: randomUUID(), thread_id: randomUUID(), assistant_id: randomUUID() };
      const finished = makeEvent(RunFinished, {
        source: '/test',
        subject: run.thread_id,
        data: { ...run, attempt: 1, status: 'success' },
      });
      await bus.publish('runs', [{ key: run.thread_id, event: finished }]);
      const sent = issued();
      await bus.publish('organizations', [sent]);
      await waitFor(() => first.got.length === 1 && second.got.length === 1 && ofRuns.length === 2);
      expect(first.ids()).toEqual([sent.event.id]);
      expect(second.ids()).toEqual([sent.event.id]);
      expect(ofRuns.sort()).toEqual(['organizations', 'runs']);
    });

    it('keeps the order of each key, over several members of a group', async () => {
      const order = new Map<string, string[]>();
      const onEvent = async (event: CloudEvent) => {
        order.set(event.subject, [...(order.get(event.subject) ?? []), event.id]);
      };
      await Promise.all([listen({ onEvent }), listen({ by: open(), onEvent })]);
      const keys = Array.from({ length: 5 }, () => randomUUID());
      const sent = Array.from({ length: 200 }, (_, index) => issued(undefined, keys[index % keys.length]));
      for (let start = 0; start < sent.length; start += 20)
        await bus.publish('organizations', sent.slice(start, start + 20));
      await waitFor(() => [...order.values()].flat().length === sent.length);
      for (const key of keys) expect(order.get(key)).toEqual(idsOf(sent.filter((one) => one.key === key)));
    });

    it('begins a group with "latest" at later events, and one with "earliest" at the oldest stored one', async () => {
      const before = issued();
      await bus.publish('organizations', [before]);
      const latest = await listen({ group: 'latest', from: 'latest' });
      const earliest = await listen({ group: 'earliest', from: 'earliest' });
      const after = issued();
      await bus.publish('organizations', [after]);
      await waitFor(() => latest.got.length >= 1 && earliest.got.length >= 2);
      expect(latest.ids()).toEqual([after.event.id]);
      expect(earliest.ids()).toEqual([before.event.id, after.event.id]);
    });

    it("resumes after a restart at the group's position, even when it had not received any event yet", async () => {
      const first = await listen();
      await first.subscription.close();
      const missed = [issued(), issued()];
      await bus.publish('organizations', missed);
      const second = await listen({ by: open() });
      await waitFor(() => second.got.length === 2);
      await second.subscription.close();
      const more = issued();
      await bus.publish('organizations', [more]);
      const third = await listen({ by: open() });
      await waitFor(() => third.got.length >= 1);
      expect(second.ids()).toEqual(idsOf(missed));
      expect(third.ids()).toEqual([more.event.id]);
    });

    it('delivers an event whose consumer was killed before its effect was done to the next consumer', async () => {
      const consumer = await startConsumerProcess(config, 'group');
      const sent = issued();
      await bus.publish('organizations', [sent]);
      await consumer.hasBegun(sent.event.id);
      await consumer.kill();
      const { ids } = await listen();
      await waitFor(() => ids().length === 1);
      expect(ids()).toEqual([sent.event.id]);
    });

    it('calls a failing handler until it succeeds, while later events of the key wait, and loses nothing', async () => {
      let failures = 0;
      const poison = issued();
      const { ids } = await listen({
        onEvent: async (event) => {
          if (event.id !== poison.event.id || failures === 3) return;
          failures += 1;
          throw new Error('not yet');
        },
      });
      const next = issued();
      await bus.publish('organizations', [poison, next]);
      await waitFor(() => ids().length === 2);
      expect(ids()).toEqual([poison.event.id, next.event.id]);
      expect(log.messages('error').filter(({ fields }) => fields?.id === poison.event.id)).toHaveLength(3);
    });

    it('closes while a handler keeps failing, and the event stays for the next member', async () => {
      const { subscription } = await listen({
        onEvent: async () => {
          throw new Error('never');
        },
      });
      const sent = issued();
      await bus.publish('organizations', [sent]);
      await waitFor(() => log.messages('error').length > 0);
      await subscription.close();
      const { ids } = await listen({ by: open() });
      await waitFor(() => ids().length === 1);
      expect(ids()).toEqual([sent.event.id]);
    });

    it('lets others join a group while a handler keeps failing', async () => {
      await listen({
        onEvent: async () => {
          throw new Error('never');
        },
      });
      await bus.publish('organizations', [issued()]);
      await waitFor(() => log.messages('error').length > 0);
      await listen({ by: open() });
    });

    it('handles an event once that is published twice', async () => {
      const { ids } = await listen();
      const [twice, last] = [issued(), issued()];
      await bus.publish('organizations', [twice]);
      await bus.publish('organizations', [twice, last]);
      await waitFor(() => ids().includes(last.event.id));
      expect(ids()).toEqual([twice.event.id, last.event.id]);
    });

    it('logs and skips a message that is no valid event, and delivers the next', async () => {
      const { ids } = await listen();
      const good = issued();
      const { data: _data, ...withoutData } = issued().event;
      await publishRaw(config, [
        'not json',
        'null',
        JSON.stringify({ ...issued().event, type: 'runyard.something.else' }),
        JSON.stringify(withoutData),
        JSON.stringify(good.event),
      ]);
      await waitFor(() => ids().length >= 1);
      expect(ids()).toEqual([good.event.id]);
      // A subscription may warn of its own, of a broker that was not ready for it at once.
      const skipped = log.messages('warn').filter(({ message }) => message === 'invalid event skipped');
      expect(skipped.map(({ fields }) => fields?.reason)).toEqual([
        'not JSON',
        'unknown type',
        'unknown type',
        'invalid',
      ]);
    });

    it('delivers a backlog and later events in batches, in order per key, each event once', async () => {
      const keys = Array.from({ length: 5 }, () => randomUUID());
      const sent = Array.from({ length: 2_000 }, (_, index) => issued(undefined, keys[index % keys.length]));
      const publish = async (events: KeyedEvent[]) => {
        for (let start = 0; start < events.length; start += 100)
          await bus.publish('organizations', events.slice(start, start + 100));
      };
      await publish(sent.slice(0, 1_500));
      const { batches } = await listenForBatches({ from: 'earliest' });
      await publish(sent.slice(1_500));
      await waitFor(() => batches.flat().length >= sent.length);
      for (const key of keys) {
        const ids = idsOf(sent.filter((one) => one.key === key));
        expect(batches.flat().filter((id) => ids.includes(id))).toEqual(ids);
      }
      expect(batches.flat()).toHaveLength(sent.length);
      expect(batches.length).toBeLessThan(sent.length / 20);
      for (const { length } of batches) {
        expect(length).toBeGreaterThan(0);
        expect(length).toBeLessThanOrEqual(EVENTS_OF_BATCH);
      }
    });

    it('gathers events that are published one after another, and calls a batch handler rarely', async () => {
      const { batches } = await listenForBatches();
      const sent = Array.from({ length: 50 }, () => issued());
      const begun = performance.now();
      for (const one of sent) await bus.publish('organizations', [one]);
      await waitFor(() => batches.flat().length >= sent.length);
      // However slow this machine is, a pause lies between two calls.
      expect(batches.length).toBeLessThanOrEqual(2 + (performance.now() - begun) / 200);
      expect(batches.flat()).toEqual(idsOf(sent));
    });

    it('calls a failing batch handler with the same events until it succeeds, while later ones wait', async () => {
      const attempts: string[][] = [];
      const { batches } = await listenForBatches({
        onEvents: async (events) => {
          attempts.push(events.map(({ id }) => id));
          if (attempts.length <= 2) throw new Error('not yet');
        },
      });
      const failing = [issued(), issued(), issued()];
      await bus.publish('organizations', failing);
      await waitFor(() => attempts.length > 0);
      const next = issued();
      await bus.publish('organizations', [next]);
      await waitFor(() => batches.length === 2);
      const [batch, later] = [idsOf(failing), [next.event.id]];
      expect(attempts).toEqual([batch, batch, batch, later]);
      expect(batches).toEqual([batch, later]);
    });

    it('closes while a batch handler keeps failing, and the whole batch stays for the next member', async () => {
      const first = issued();
      const { batches, subscription } = await listenForBatches({
        onEvents: async (events) => {
          if (events[0]!.id !== first.event.id) throw new Error('never');
        },
      });
      await bus.publish('organizations', [first]);
      await waitFor(() => batches.length === 1);
      const failing = [issued(), issued(), issued()];
      await bus.publish('organizations', failing);
      await waitFor(() => log.messages('error').length > 1);
      await subscription.close();
      const next = await listenForBatches({ by: open() });
      await waitFor(() => next.batches.length > 0);
      expect(batches).toEqual([[first.event.id]]);
      expect(next.batches).toEqual([idsOf(failing)]);
    });

    it('logs and skips an invalid message within a batch, and delivers the rest of the batch', async () => {
      const before = await listenForBatches();
      await before.subscription.close();
      const good = [issued(), issued()];
      const [first, last] = good.map(({ event }) => JSON.stringify(event));
      await publishRaw(config, [first!, 'not json', last!]);
      const { batches } = await listenForBatches();
      await waitFor(() => batches.length > 0);
      expect(batches).toEqual([idsOf(good)]);
      const skipped = log.messages('warn').filter(({ message }) => message === 'invalid event skipped');
      expect(skipped.map(({ fields }) => fields?.reason)).toEqual(['not JSON']);
    });

    it('handles an event once that is published twice, within a batch or after it', async () => {
      const { batches } = await listenForBatches();
      const [twice, last] = [issued(), issued()];
      await bus.publish('organizations', [twice, twice]);
      await waitFor(() => batches.length > 0);
      await bus.publish('organizations', [twice, last]);
      await waitFor(() => batches.flat().includes(last.event.id));
      expect(batches).toEqual([[twice.event.id], [last.event.id]]);
    });

    it('accepts and delivers nothing more after it is closed', async () => {
      const { ids } = await listen();
      const other = open();
      await bus.close();
      await expect(bus.publish('organizations', [issued()])).rejects.toMatchObject({ name: 'BusClosedError' });
      await expect(listen()).rejects.toMatchObject({ name: 'BusClosedError' });
      await other.publish('organizations', [issued()]);
      expect(ids()).toEqual([]);
    });

    it('fails to publish in time while it is unreachable, and a subscription waits until it is closed', async () => {
      const away = createEventBus(
        config.kind === 'kafka' ? { ...config, brokers: ['127.0.0.1:1'] } : { ...config, url: 'redis://127.0.0.1:1' },
        { logger: log.logger },
      );
      await expect(away.publish('organizations', [issued()])).rejects.toMatchObject({ name: 'BusUnavailableError' });
      const subscribing = listen({ by: away });
      subscribing.catch(() => undefined);
      await waitFor(() => log.messages('warn').some(({ message }) => message.startsWith('subscribing failed')));
      await away.close();
      await expect(subscribing).rejects.toMatchObject({ name: 'BusClosedError' });
    });
  },
);

describe('makeEvent', () => {
  it('makes a CloudEvent of the schema whose ids sort by time', async () => {
    const data = { organization_id: organization, key_id: randomUUID() };
    const first = makeEvent(KeyRevoked, { source: '/test', subject: organization, data });
    const second = makeEvent(KeyRevoked, { source: '/test', subject: organization, data });
    expect(first).toMatchObject({ specversion: '1.0', type: 'runyard.key.revoked', subject: organization, data });
    expect(first.id < second.id).toBe(true);
  });

  it('refuses data that does not match the schema', () => {
    const data = { organization_id: 'no uuid', key_id: randomUUID() };
    expect(() => makeEvent(KeyRevoked, { source: '/test', subject: organization, data })).toThrow(TypeError);
  });
});
