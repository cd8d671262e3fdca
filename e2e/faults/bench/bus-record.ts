import { randomUUID } from 'node:crypto';
import { createEventBus } from '@runyard/event-bus';
import type { KafkaServer } from '@runyard/local-infra';
import { Kafka, logLevel, type SASLOptions } from 'kafkajs';
import type { BenchDeployment } from './deployment.ts';

/** An event as it came over the bus, in the order of its partition. */
export interface PublishedEvent {
  id: string;
  key: string;
}

/** Records what a deployment wrote for the bus, and what was published. */
export class BusRecord {
  readonly #deployment: BenchDeployment;
  readonly #kafka: KafkaServer;
  /** Ids that a subscriber got, which stays subscribed through all faults. */
  readonly handled: string[] = [];

  private constructor(deployment: BenchDeployment, kafka: KafkaServer) {
    this.#deployment = deployment;
    this.#kafka = kafka;
  }

  /** Starts to keep every row of the outbox, with a subscriber. */
  static async open(deployment: BenchDeployment, kafka: KafkaServer): Promise<BusRecord> {
    const record = new BusRecord(deployment, kafka);
    await deployment.pool.query(`
      CREATE TABLE bench_outbox (id bigint PRIMARY KEY, key text, event_id text);
      CREATE FUNCTION bench_note_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO bench_outbox (id, key, event_id) VALUES (NEW.id, NEW.key, NEW.event->>'id');
        RETURN NULL;
      END $$;
      CREATE TRIGGER bench_event AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION bench_note_event();`);
    return record;
  }

  /** Subscribes as services do, through the same package; returns a function that ends it. */
  async subscribe(): Promise<() => Promise<void>> {
    const silent = () => undefined;
    const logger = { error: silent, warn: silent, info: silent, http: silent, debug: silent, child: () => logger };
    const { brokers, logins } = this.#kafka;
    const { topicPrefix } = this.#deployment;
    const sasl = logins?.platform;
    const bus = createEventBus(
      { kind: 'kafka', brokers, clientId: 'fault-bench', topicPrefix, ...(sasl && { sasl }) },
      { logger },
    );
    await bus.subscribe({
      topics: ['runs'],
      group: 'fault-bench',
      from: 'earliest',
      onEvent: async ({ id }) => void this.handled.push(id),
    });
    return () => bus.close();
  }

  /** Returns what was committed, in the order of ids. */
  async written(): Promise<PublishedEvent[]> {
    const { rows } = await this.#deployment.pool.query(
      'SELECT event_id AS id, key FROM bench_outbox AS b ORDER BY b.id',
    );
    return rows;
  }

  async waiting(): Promise<number> {
    const { rows } = await this.#deployment.pool.query('SELECT count(*)::int AS count FROM outbox');
    return rows[0].count;
  }

  /** Returns all that is on the topic now, from its beginning. */
  async published(): Promise<PublishedEvent[]> {
    const { brokers, logins } = this.#kafka;
    const sasl = logins && ({ ...logins.platform } as SASLOptions);
    const kafka = new Kafka({ brokers, ...(sasl && { sasl }), logLevel: logLevel.NOTHING });
    const topic = `${this.#deployment.topicPrefix}runyard.runs`;
    const admin = kafka.admin();
    await admin.connect();
    const ends = await admin.fetchTopicOffsets(topic);
    await admin.disconnect();
    const open = new Set(ends.filter(({ high, low }) => high !== low).map(({ partition }) => partition));
    const last = new Map(ends.map(({ partition, high }) => [partition, BigInt(high) - 1n]));
    const events: PublishedEvent[] = [];
    const consumer = kafka.consumer({ groupId: `fault-bench-${randomUUID()}`, maxWaitTimeInMs: 200 });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    try {
      await new Promise<void>((resolve, reject) => {
        if (open.size === 0) resolve();
        consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
        consumer
          .run({
            eachMessage: async ({ partition, message }) => {
              const { id } = JSON.parse(message.value?.toString() ?? '{}') as { id: string };
              events.push({ id, key: message.key?.toString() ?? '' });
              if (BigInt(message.offset) >= (last.get(partition) ?? 0n)) open.delete(partition);
              if (open.size === 0) resolve();
            },
          })
          .catch(reject);
      });
    } finally {
      await consumer.disconnect();
    }
    return events;
  }
}

/**
 * Compares what was written with what was published: events that never came, and keys whose events first came in
 * another order.
 */
export function compareWithWritten(written: PublishedEvent[], published: PublishedEvent[]) {
  const place = new Map<string, number>();
  for (const [index, { id }] of published.entries()) if (!place.has(id)) place.set(id, index);
  const missing = written.filter(({ id }) => !place.has(id)).map(({ id, key }) => `${id} of ${key}`);
  const known = new Set(written.map(({ id }) => id));
  const foreign = [...place.keys()].filter((id) => !known.has(id));
  const latest = new Map<string, number>();
  const outOfOrder: string[] = [];
  for (const { id, key } of written) {
    const at = place.get(id);
    if (at === undefined) continue;
    if (at < (latest.get(key) ?? -1)) outOfOrder.push(`${id} of ${key}`);
    latest.set(key, Math.max(at, latest.get(key) ?? -1));
  }
  return { missing, foreign, outOfOrder, repeated: published.length - place.size };
}
