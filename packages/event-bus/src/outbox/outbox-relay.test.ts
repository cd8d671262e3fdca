import { randomUUID } from 'node:crypto';
import { type CloudEvent, KeyIssued, type TopicName } from '@runyard/contracts';
import { openPool, withTransaction } from '@runyard/database';
import { acquireLease, releaseLease } from '@runyard/leases';
import { Metrics } from '@runyard/service-kit';
import { createTestDatabase, type TestDatabase, testRedis, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  BusUnavailableError,
  createEventBus,
  type EventBus,
  EventTooLargeError,
  type KeyedEvent,
  makeEvent,
} from '../index.ts';
import { recordingLogger } from '../test/recording-logger.ts';
import { insertIntoOutbox } from './outbox.ts';
import { OutboxRelay, type OutboxRelayOptions } from './outbox-relay.ts';

let database: TestDatabase;
let pool: pg.Pool;
let relays: OutboxRelay[];
let log: ReturnType<typeof recordingLogger>;
let bus: ReturnType<typeof recordingBus>;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({ connectionString: database.url, max: 6, applicationName: 'test' });
  await pool.query(`
    CREATE TABLE outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, topic text NOT NULL, key text NOT NULL,
                         event jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
    CREATE TABLE duty (name text PRIMARY KEY, holder uuid NOT NULL, lease_until timestamptz NOT NULL)`);
});
afterAll(async () => {
  await pool.end();
  await database.close();
});
beforeEach(async () => {
  await pool.query('TRUNCATE outbox, duty');
  relays = [];
  log = recordingLogger();
  bus = recordingBus();
});
afterEach(async () => {
  bus.isAway = false;
  await Promise.all(relays.map((relay) => relay.stop()));
});

interface Published extends KeyedEvent {
  topic: TopicName;
}

/** Makes a bus that records what is published, in order, and can be unavailable. */
function recordingBus(): EventBus & { published: Published[]; isAway: boolean; attempts: number } {
  const published: Published[] = [];
  return {
    published,
    isAway: false,
    attempts: 0,
    async publish(topic: TopicName, events: KeyedEvent[]) {
      this.attempts += 1;
      if (this.isAway) throw new BusUnavailableError(new Error('away'));
      for (const one of events) published.push({ topic, ...one });
    },
    subscribe: () => Promise.reject(new Error('not used')),
    close: async () => undefined,
  };
}

const start = (options: Partial<OutboxRelayOptions> = {}): OutboxRelay => {
  const topics = ['organizations', 'audit'];
  const relay = new OutboxRelay({ pool, bus, logger: log.logger, topics, ...options });
  relays.push(relay);
  relay.start();
  return relay;
};
const row = (key = 'k', topic: TopicName = 'organizations') => ({
  topic,
  key,
  event: makeEvent(KeyIssued, {
    source: '/test',
    subject: key,
    data: { organization_id: randomUUID(), key_id: randomUUID() },
  }),
});
const left = async () => Number((await pool.query('SELECT count(*) FROM outbox')).rows[0].count);

describe('OutboxRelay', () => {
  it('publishes rows of a transaction unchanged, and deletes them', async () => {
    const rows = [row('a'), row('b')];
    await insertIntoOutbox(pool, rows);
    start();
    await waitFor(async () => bus.published.length === 2 && (await left()) === 0);
    expect(bus.published).toEqual(rows);
  });

  it('waits for the disk neither to delete what it has published nor to take its lease', async () => {
    await pool.query(`
      CREATE TABLE waited (by_table text, setting text);
      CREATE FUNCTION record_wait() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO waited VALUES (TG_TABLE_NAME, current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TRIGGER waits AFTER DELETE ON outbox FOR EACH STATEMENT EXECUTE FUNCTION record_wait();
      CREATE TRIGGER waits AFTER INSERT ON duty FOR EACH STATEMENT EXECUTE FUNCTION record_wait()`);
    await insertIntoOutbox(pool, [row()]);
    start();
    const seen = async () => (await pool.query('SELECT DISTINCT * FROM waited ORDER BY 1')).rows;
    await waitFor(async () => (await seen()).length >= 2);
    expect(await seen()).toEqual([
      { by_table: 'duty', setting: 'off' },
      { by_table: 'outbox', setting: 'off' },
    ]);
    await pool.query(
      'DROP TRIGGER waits ON outbox; DROP TRIGGER waits ON duty; DROP FUNCTION record_wait; DROP TABLE waited',
    );
  });

  it('publishes nothing of a transaction that is rolled back', async () => {
    const relay = start();
    const failing = withTransaction(pool, async (client) => {
      await insertIntoOutbox(client, [row()]);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await insertIntoOutbox(pool, [row('kept')]);
    relay.wake();
    await waitFor(() => bus.published.length > 0);
    expect(bus.published.map(({ key }) => key)).toEqual(['kept']);
  });

  it('publishes at once after a wake, long before the idle poll', async () => {
    const relay = start({ idleMs: 3_600_000 });
    await waitFor(async () => (await pool.query('SELECT 1 FROM duty')).rowCount === 1);
    await insertIntoOutbox(pool, [row()]);
    relay.wake();
    await waitFor(() => bus.published.length === 1);
  });

  it('looks less and less often at an outbox that stays empty, at once after a wake, and then soon again', async () => {
    vi.useFakeTimers();
    let looks = 0;
    let waiting: object[] = [];
    const query = async ({ name }: { name: string }) => {
      if (name === 'duty_take') return { rows: [{ name: 'outbox-relay' }] };
      if (name === 'outbox_lowest') looks += 1;
      const rows = name === 'outbox_lowest' ? waiting : [];
      waiting = [];
      return { rows };
    };
    const relay = start({ pool: { query } as unknown as pg.Pool });
    try {
      await vi.advanceTimersByTimeAsync(60_000);
      // At 0, 1, 3, 7 and then every 5 seconds.
      expect(looks).toBe(14);
      waiting = [{ id: '1', considered: 1, ...row() }];
      relay.wake();
      await vi.advanceTimersByTimeAsync(0);
      expect([looks, bus.published.length]).toEqual([15, 1]);
      await vi.advanceTimersByTimeAsync(3_000);
      expect(looks).toBe(17);
    } finally {
      vi.useRealTimers();
      await relay.stop();
    }
  });

  it('finds rows of another process without a wake', async () => {
    start({ idleMs: 30 });
    await insertIntoOutbox(pool, [row()]);
    await waitFor(() => bus.published.length === 1);
  });

  it('does not skip an id that was assigned early and committed late', async () => {
    const relay = start({ idleMs: 20 });
    const early = await pool.connect();
    await early.query('BEGIN');
    await insertIntoOutbox(early, [row('early')]);
    await insertIntoOutbox(pool, [row('late')]);
    relay.wake();
    await waitFor(() => bus.published.length === 1);
    await early.query('COMMIT');
    early.release();
    await waitFor(() => bus.published.length === 2);
    expect(bus.published.map(({ key }) => key)).toEqual(['late', 'early']);
  });

  it('keeps the order of each key over batches and while the bus fails now and then', async () => {
    const rows = Array.from({ length: 250 }, (_, index) => row(`k${index % 4}`));
    await insertIntoOutbox(pool, rows);
    const publish = bus.publish.bind(bus);
    bus.publish = async (topic, events) => {
      bus.isAway = bus.attempts % 3 === 1;
      await publish(topic, events);
    };
    start({ batchSize: 50 });
    await waitFor(async () => (await left()) === 0);
    for (const key of ['k0', 'k1', 'k2', 'k3']) {
      const wanted = rows.filter((one) => one.key === key).map(({ event }) => event.id);
      expect(bus.published.filter((one) => one.key === key).map(({ event }) => event.id)).toEqual(wanted);
    }
  });

  it('loses nothing and slows down while the bus is unavailable, and publishes the backlog once it is back', async () => {
    bus.isAway = true;
    const relay = start();
    const rows = Array.from({ length: 30 }, () => row());
    for (const one of rows) {
      await insertIntoOutbox(pool, [one]);
      relay.wake();
    }
    await waitFor(() => bus.attempts >= 2);
    expect(bus.attempts).toBeLessThan(10);
    expect(await left()).toBe(30);
    bus.isAway = false;
    await waitFor(async () => (await left()) === 0);
    expect(bus.published.map(({ event }) => event.id)).toEqual(rows.map(({ event }) => event.id));
  });

  it('publishes all of a topic, also what comes later, while the bus refuses a longer backlog of another one', async () => {
    const refused = Array.from({ length: 12 }, () => row('k', 'audit'));
    const rows = Array.from({ length: 12 }, () => row());
    await insertIntoOutbox(pool, [...refused, ...rows]);
    const publish = bus.publish.bind(bus);
    let attempts = 0;
    let isRefusing = true;
    bus.publish = async (topic, events) => {
      if (topic === 'audit' && isRefusing) {
        attempts += 1;
        throw new BusUnavailableError(new Error('not authorized'));
      }
      await publish(topic, events);
    };
    const relay = start({ batchSize: 5, idleMs: 3_600_000 });
    await waitFor(() => bus.published.length === 12);
    for (let count = 13; count <= 30; count += 1) {
      await insertIntoOutbox(pool, [row()]);
      relay.wake();
      await waitFor(() => bus.published.length === count);
    }
    // Wakes do not repeat the refused topic before its time.
    expect(attempts).toBeLessThan(10);
    expect(new Set(log.messages('warn').map(({ fields }) => fields?.topic))).not.toContain('organizations');
    isRefusing = false;
    await waitFor(() => bus.published.length === 42);
    const audit = bus.published.filter(({ topic }) => topic === 'audit');
    expect(audit.map(({ event }) => event.id)).toEqual(refused.map(({ event }) => event.id));
  });

  it('publishes a topic while the bus does not confirm another one, of which it has one batch in flight', async () => {
    const [first, ...later] = Array.from({ length: 3 }, () => row('k', 'audit'));
    await insertIntoOutbox(pool, [first!]);
    const publish = bus.publish.bind(bus);
    const audit: KeyedEvent[][] = [];
    let confirm = () => {};
    bus.publish = async (topic, events) => {
      if (topic === 'audit') {
        audit.push(events);
        await new Promise<void>((resolve) => (confirm = resolve));
      }
      await publish(topic, events);
    };
    const relay = start({ idleMs: 3_600_000 });
    await waitFor(() => audit.length === 1);
    for (let count = 1; count <= 5; count += 1) {
      await insertIntoOutbox(pool, [row(), ...later.splice(0, 1)]);
      relay.wake();
      await waitFor(() => bus.published.length === count);
    }
    expect(audit).toHaveLength(1);
    confirm();
    // The wakes of meanwhile count for the rows that were not in the batch.
    await waitFor(() => audit.length === 2);
    expect(audit[1]).toHaveLength(2);
    confirm();
    await waitFor(async () => (await left()) === 0);
  });

  it('publishes from one of several relays, and another takes over when it ends', async () => {
    const [first, second] = [start({ idleMs: 20, leaseMs: 300 }), start({ idleMs: 20, leaseMs: 300 })];
    for (let index = 0; index < 20; index += 1) {
      await insertIntoOutbox(pool, [row()]);
      first.wake();
      second.wake();
    }
    await waitFor(async () => (await left()) === 0);
    expect(new Set(bus.published.map(({ event }) => event.id)).size).toBe(20);
    expect(bus.published).toHaveLength(20);
    const { rows } = await pool.query('SELECT holder FROM duty');
    await first.stop();
    await insertIntoOutbox(pool, [row()]);
    await waitFor(() => bus.published.length === 21);
    expect(rows).toHaveLength(1);
  });

  it('replaces a relay that died without releasing the lease when the lease expires', async () => {
    await acquireLease(pool, { name: 'outbox-relay', owner: randomUUID(), leaseMs: 400 });
    await insertIntoOutbox(pool, [row()]);
    start({ leaseMs: 300 });
    await waitFor(() => bus.published.length === 1);
  });

  it('leaves rows of a topic that a newer version wrote for a relay that knows it', async () => {
    await pool.query(`INSERT INTO outbox (topic, key, event) VALUES ('from-the-future', 'k', '{}')`);
    await insertIntoOutbox(pool, [row()]);
    start();
    // A row is deleted once it is published.
    await waitFor(async () => bus.published.length === 1 && (await left()) === 1);
    const { rows } = await pool.query('SELECT topic FROM outbox');
    expect(rows).toEqual([{ topic: 'from-the-future' }]);
  });

  it('publishes the present rows at stop, and ends without that while the bus is unavailable', async () => {
    await insertIntoOutbox(pool, [row()]);
    const relay = start({ idleMs: 3_600_000, batchSize: 5 });
    // The row of its lease exists before the relay knows that it has the lease.
    await waitFor(() => bus.published.length === 1);
    await insertIntoOutbox(
      pool,
      Array.from({ length: 12 }, () => row()),
    );
    await relay.stop();
    expect(bus.published).toHaveLength(13);
    bus.isAway = true;
    await insertIntoOutbox(pool, [row()]);
    const other = start();
    await waitFor(() => bus.attempts > 3);
    await other.stop();
    expect(await left()).toBe(1);
    expect((await pool.query('SELECT 1 FROM duty')).rowCount).toBe(0);
  });

  it('reports the lag of the outbox, the same in every process with a relay, and which of them is active', async () => {
    const [active, standby] = [new Metrics(), new Metrics()];
    bus.isAway = true;
    start({ metrics: active });
    await waitFor(async () => (await pool.query('SELECT 1 FROM duty')).rowCount === 1);
    start({ metrics: standby });
    await insertIntoOutbox(pool, [row(), row()]);
    for (const metrics of [active, standby]) {
      await waitFor(async () => /outbox_rows 2\n/.test(await metrics.text()));
      expect(await metrics.text()).toMatch(/outbox_lag_seconds 0\.\d+/);
    }
    bus.isAway = false;
    await waitFor(async () => /outbox_published_total\{topic="organizations"\} 2/.test(await active.text()));
    await waitFor(async () => /outbox_rows 0\n/.test(await standby.text()));
    expect(await active.text()).toMatch(/outbox_relay_active 1\n/);
    expect(await standby.text()).toMatch(/outbox_relay_active 0\n/);
  });

  it('repeats at most its batch in flight after stalling past its lease, and keeps every key in order', async () => {
    const rows = Array.from({ length: 6 }, () => row('k'));
    await insertIntoOutbox(pool, rows);
    let wake: (() => void) | undefined;
    const stalledBus = recordingBus();
    stalledBus.publish = async (topic, events) => {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      await bus.publish(topic, events);
    };
    start({ bus: stalledBus, batchSize: 3, leaseMs: 300 });
    await waitFor(() => wake !== undefined);
    start({ batchSize: 2, leaseMs: 300, idleMs: 20 });
    await waitFor(async () => (await left()) === 0);
    wake!();
    await waitFor(() => bus.published.length === 9);
    const later = row('k');
    await insertIntoOutbox(pool, [later]);
    await waitFor(() => bus.published.length === 10);
    const first = [...new Set(bus.published.map(({ event }) => event.id))];
    expect(first).toEqual([...rows, later].map(({ event }) => event.id));
  });

  it('limits a request to the bus in bytes too', async () => {
    const rows = Array.from({ length: 12 }, () => ({ ...row('k'), key: 'k' }));
    for (const { event } of rows) Object.assign(event, { padding: 'x'.repeat(100_000) });
    await insertIntoOutbox(pool, rows);
    const sizes: number[] = [];
    const publish = bus.publish.bind(bus);
    bus.publish = async (topic, events) => {
      sizes.push(JSON.stringify(events).length);
      await publish(topic, events);
    };
    start();
    await waitFor(() => bus.published.length === 12);
    expect(Math.max(...sizes)).toBeLessThan(1_000_000);
    expect(bus.published.map(({ event }) => event.id)).toEqual(rows.map(({ event }) => event.id));
  });

  it('sets aside an event that is too large for the bus, for the operator, and publishes all others in order', async () => {
    const rows = Array.from({ length: 9 }, () => row('k'));
    const [, , large, , nearly] = rows as [unknown, unknown, ...ReturnType<typeof row>[]];
    Object.assign(large!.event, { padding: 'x'.repeat(1_000_000) });
    // Alone the bus takes it.
    Object.assign(nearly!.event, { padding: 'x'.repeat(899_000) });
    await insertIntoOutbox(pool, rows);
    const publish = bus.publish.bind(bus);
    bus.publish = async (topic, events) => {
      if (JSON.stringify(events).length > 900_000) throw new EventTooLargeError(new Error('too large'));
      await publish(topic, events);
    };
    const metrics = new Metrics();
    start({ metrics });
    await waitFor(async () => bus.published.length === 8 && (await left()) === 1);
    const published = rows.filter((each) => each !== large).map(({ event }) => event.id);
    expect(bus.published.map(({ event }) => event.id)).toEqual(published);
    const kept = await pool.query('SELECT topic, event FROM outbox');
    expect(kept.rows).toEqual([{ topic: 'organizations.too-large', event: large!.event }]);
    expect(log.messages('error')).toMatchObject([{ fields: { topic: 'organizations', eventId: large!.event.id } }]);
    for (const line of [
      /outbox_set_aside_total\{topic="organizations"\} 1\n/,
      /outbox_rows 0\n/,
      /outbox_lag_seconds 0\n/,
    ])
      expect(await metrics.text()).toMatch(line);
  });

  it('carries an event from a commit to a subscriber over a real bus', async () => {
    const redis = testRedis();
    const real = createEventBus({ kind: 'redis', url: redis.url, prefix: redis.prefix }, { logger: log.logger });
    const got: CloudEvent[] = [];
    await real.subscribe({
      topics: ['organizations'],
      group: 'g',
      from: 'latest',
      onEvent: async (event) => void got.push(event),
    });
    const relay = start({ bus: real });
    const sent = row();
    await insertIntoOutbox(pool, [sent]);
    relay.wake();
    await waitFor(() => got.length === 1);
    expect(got).toEqual([sent.event]);
    await relay.stop();
    await releaseLease(pool, { name: 'outbox-relay', owner: randomUUID() });
    await real.close();
    await redis.close();
  });
});
