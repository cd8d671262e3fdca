import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { type CloudEvent, KeyIssued } from '@runyard/contracts';
import { kafkaAvailable, testKafka, waitFor } from '@runyard/test-kit';
import { Kafka, logLevel } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEventBus, type EventBus, type KafkaBusConfig, type KeyedEvent, makeEvent } from '../index.ts';
import { recordingLogger } from '../test/recording-logger.ts';

let config: KafkaBusConfig;
let bus: EventBus;

beforeEach(() => {
  config = { kind: 'kafka', clientId: 'test', sessionTimeoutMs: 6_000, ...testKafka() };
  bus = createEventBus(config, { logger: recordingLogger().logger });
});
afterEach(() => bus.close());

function issued(): KeyedEvent {
  const id = randomUUID();
  const data = { organization_id: id, key_id: id };
  return { key: id, event: makeEvent(KeyIssued, { source: '/test', subject: id, data }) };
}

async function dropTopics(): Promise<void> {
  const admin = new Kafka({ brokers: config.brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(config.topicPrefix));
  await admin.deleteTopics({ topics });
  await admin.disconnect();
}

describe.runIf(kafkaAvailable())('event bus on Kafka', () => {
  it('reaches a broker that gives a loopback address as its own where it is told to look for such ones', async () => {
    const [broker = ''] = config.brokers;
    const port = Number(broker.split(':')[1]);
    let connections = 0;
    const elsewhere = createServer((socket) => {
      connections += 1;
      const server = connect(port, '127.0.0.1').on('error', () => socket.destroy());
      socket
        .on('error', () => server.destroy())
        .pipe(server)
        .pipe(socket);
    });
    await once(elsewhere.listen(port, '127.0.0.2'), 'listening');
    const containers = createEventBus({ ...config, loopbackHost: '127.0.0.2' }, { logger: recordingLogger().logger });
    try {
      const got: CloudEvent[] = [];
      const onEvent = async (event: CloudEvent) => void got.push(event);
      await containers.subscribe({ topics: ['organizations'], group: 'group', from: 'latest', onEvent });
      const sent = issued();
      await containers.publish('organizations', [sent]);
      await waitFor(() => got.length === 1);
      expect(got).toEqual([sent.event]);
      expect(connections).toBeGreaterThan(1);
    } finally {
      await containers.close();
      elsewhere.close();
    }
  });

  it('makes its topics again on a broker that came back without them, and its subscribers go on there', async () => {
    const got: CloudEvent[] = [];
    await bus.subscribe({
      topics: ['organizations'],
      group: 'group',
      from: 'latest',
      onEvent: async (event) => void got.push(event),
    });
    await bus.publish('organizations', [issued()]);
    await waitFor(() => got.length === 1);
    await dropTopics();
    const sent = issued();
    await waitFor(
      () =>
        bus.publish('organizations', [sent]).then(
          () => true,
          () => false,
        ),
      { timeoutMs: 15_000 },
    );
    // The topic begins anew below the group's position: what a group misses then its owner asks for anew.
    await waitFor(
      async () => {
        await bus.publish('organizations', [issued()]).catch(() => undefined);
        return got.length > 1;
      },
      { timeoutMs: 20_000 },
    );
  });
});
