import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { type CloudEvent, KeyIssued, RunFinished } from '@runyard/contracts';
import type { KafkaLogin } from '@runyard/service-kit';
import { isKafkaAvailable, testKafka, testKafkaDeploymentLogin, waitFor } from '@runyard/test-kit';
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka,
  logLevel,
  ResourcePatternTypes,
} from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createEventBus,
  type EventBus,
  EventTooLargeError,
  type KafkaBusConfig,
  type KeyedEvent,
  makeEvent,
} from '../index.ts';
import { recordingLogger } from '../test/recording-logger.ts';
import { kafkaClientConfig } from './kafka-client.ts';

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

const finishedRun = (): KeyedEvent => {
  const data = { deployment_id: 'd', run_id: randomUUID(), thread_id: randomUUID(), assistant_id: randomUUID() };
  return {
    key: data.thread_id,
    event: makeEvent(RunFinished, {
      source: '/test',
      subject: data.thread_id,
      data: { ...data, attempt: 1, status: 'success' },
    }),
  };
};

/** Permits the user of deployments the `operations` on this test's topic of runs. */
async function permitOnRuns(...operations: AclOperationTypes[]): Promise<KafkaLogin> {
  const login = testKafkaDeploymentLogin()!;
  const admin = new Kafka({ ...kafkaClientConfig(config), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.createAcls({
    acl: operations.map((operation) => ({
      principal: `User:${login.username}`,
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
      resourceType: AclResourceTypes.TOPIC,
      resourceName: `${config.topicPrefix}runyard.runs`,
      resourcePatternType: ResourcePatternTypes.LITERAL,
    })),
  });
  await admin.disconnect();
  return login;
}

/** Makes a key, and a self-signed certificate for an address. */
function certificateFor(address: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-certificate-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const request = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    const named = ['-subj', '/CN=broker', '-addext', `subjectAltName=IP:${address}`];
    execFileSync('openssl', [...request, ...named, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function dropTopics(): Promise<void> {
  const admin = new Kafka({ ...kafkaClientConfig(config), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(config.topicPrefix));
  await admin.deleteTopics({ topics });
  await admin.disconnect();
}

describe.runIf(isKafkaAvailable())('event bus on Kafka', () => {
  // A broker from the environment may have no users.
  describe.skipIf(testKafkaDeploymentLogin() === undefined)('as a user with few rights', () => {
    const busOf = (sasl: KafkaLogin) => createEventBus({ ...config, sasl }, { logger: recordingLogger().logger });

    it('creates the topic it publishes to, and no other', async () => {
      const deployment = busOf(await permitOnRuns(AclOperationTypes.WRITE, AclOperationTypes.CREATE));
      try {
        const got: CloudEvent[] = [];
        const sent = finishedRun();
        await deployment.publish('runs', [sent]);
        await expect(deployment.publish('organizations', [issued()])).rejects.toMatchObject({
          name: 'BusUnavailableError',
        });
        const onEvent = async (event: CloudEvent) => void got.push(event);
        await bus.subscribe({ topics: ['runs'], group: 'group', from: 'earliest', onEvent });
        await waitFor(() => got.length === 1);
        expect(got).toEqual([sent.event]);
      } finally {
        await deployment.close();
      }
    });

    it('publishes to an existing topic without the right to create it', async () => {
      const login = await permitOnRuns(AclOperationTypes.WRITE);
      await bus.publish('runs', [finishedRun()]);
      const deployment = busOf(login);
      try {
        await deployment.publish('runs', [finishedRun()]);
      } finally {
        await deployment.close();
      }
    });
  });

  it('reaches a broker that announces a loopback address at the configured host', async () => {
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

  it('speaks TLS to a broker whose certificate is for its announced address, wherever it is reached', async () => {
    const [broker = ''] = config.brokers;
    const port = Number(broker.split(':')[1]);
    const { key, cert } = certificateFor('127.0.0.1');
    const encrypted = createTlsServer({ key, cert }, (socket) => {
      const server = connect(port, '127.0.0.1').on('error', () => socket.destroy());
      socket
        .on('error', () => server.destroy())
        .pipe(server)
        .pipe(socket);
    });
    await once(encrypted.listen(port, '127.0.0.3'), 'listening');
    const { logger } = recordingLogger();
    const reach = { ...config, loopbackHost: '127.0.0.3' };
    const trusting = createEventBus({ ...reach, tls: { ca: cert } }, { logger });
    const doubting = createEventBus({ ...reach, tls: {} }, { logger });
    try {
      await trusting.publish('organizations', [issued()]);
      await expect(doubting.publish('organizations', [issued()])).rejects.toThrow(/self-signed/);
    } finally {
      await Promise.all([trusting.close(), doubting.close()]);
      encrypted.close();
    }
  });

  it('tells an event that the broker never takes from an outage, and goes on with others', async () => {
    const large = issued();
    Object.assign(large.event, { padding: 'x'.repeat(1_100_000) });
    await expect(bus.publish('organizations', [issued(), large])).rejects.toThrow(EventTooLargeError);
    await bus.publish('organizations', [issued()]);
  });

  it('publishes a topic without interruption while the broker refuses an event of another one', async () => {
    const large = issued();
    Object.assign(large.event, { padding: 'x'.repeat(1_100_000) });
    for (const topic of ['audit', 'organizations'] as const) await bus.publish(topic, [issued()]);
    let isRefused = false;
    const refused = bus.publish('audit', [large]).catch((error: unknown) => {
      isRefused = true;
      return error;
    });
    const publishOther = async () => {
      while (!isRefused) await bus.publish('organizations', [issued()]);
    };
    await Promise.all(Array.from({ length: 10 }, publishOther));
    expect(await refused).toBeInstanceOf(EventTooLargeError);
  });

  it('recreates its topics on a broker that came back without them, and its subscribers go on there', async () => {
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
    await waitFor(() =>
      bus.publish('organizations', [sent]).then(
        () => true,
        () => false,
      ),
    );
    // The new topic begins below the group's position: the group misses events, and then asks their owners.
    await waitFor(async () => {
      await bus.publish('organizations', [issued()]).catch(() => undefined);
      return got.length > 1;
    });
  });
});
