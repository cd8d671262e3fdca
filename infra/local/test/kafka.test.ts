import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isKafkaAvailable } from '@runyard/test-kit';
import kafkajs, { type KafkaConfig, type SASLOptions } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInfrastructure } from '../src/index.ts';
import type { KafkaServer } from '../src/kafka/kafka.ts';
import { imageVariables, type KafkaLogins, serverProperties } from '../src/kafka/server-properties.ts';
import { cacheFolder } from '../src/supervision/cache-folder.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const TOPICS = ['runyard.runs', 'runyard.deployments', 'runyard.organizations', 'runyard.audit'];
const MESSAGES = [{ key: 'key', value: 'forged' }];

const folder = mkdtempSync(join(tmpdir(), 'runyard-kafka-'));
const cache = join(folder, 'cache/runyard');

/** Names no server: each test starts its own, with the libraries of the user's cache and nothing else of it. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RUNYARD_'))),
  XDG_CACHE_HOME: join(folder, 'cache'),
};
mkdirSync(cache, { recursive: true });
const usersCache = cacheFolder(process.env);
for (const name of existsSync(usersCache) ? readdirSync(usersCache) : [])
  if (/^kafka-[0-9a-f]+$/.test(name)) symlinkSync(join(usersCache, name), join(cache, name));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const client = (brokers: string[], sasl?: object, retries = 0) =>
  new kafkajs.Kafka({
    brokers,
    ...(sasl && { sasl: { ...sasl } as SASLOptions }),
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 2_000,
    retry: { retries, initialRetryTime: 50 },
  } satisfies KafkaConfig);

type Client = ReturnType<typeof client>;
const asAdmin = async <T>(of: Client, call: (admin: kafkajs.Admin) => Promise<T>): Promise<T> => {
  const admin = of.admin();
  return admin
    .connect()
    .then(() => call(admin))
    .finally(() => admin.disconnect());
};

const publish = async (of: Client, topic: string): Promise<unknown> => {
  const idempotent = { idempotent: true, maxInFlightRequests: 1, retry: { retries: 1, initialRetryTime: 50 } };
  const producer = of.producer({ ...idempotent, allowAutoTopicCreation: false });
  return producer
    .connect()
    .then(() => producer.send({ topic, messages: MESSAGES }))
    .finally(() => producer.disconnect());
};

/** Returns the values on a topic, read from its beginning. */
const read = async (of: Client, topic: string, retries = 0): Promise<string> => {
  const retry = { retries, initialRetryTime: 50 };
  const consumer = of.consumer({ groupId: 'readers', maxWaitTimeInMs: 100, retry });
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    return await new Promise((resolve, reject) => {
      consumer.on('consumer.crash', ({ payload }) => {
        // kafkajs does not retry to join a group that its broker still loads: its consumer ends and starts again.
        if (retries === 0 || !payload.restart) reject(payload.error);
      });
      consumer.run({ eachMessage: async ({ message }) => resolve(String(message.value)) }).catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
};

describe.runIf(isKafkaAvailable())('the broker of this machine', () => {
  const dataDir = join(folder, 'data');
  let kafka: KafkaServer;
  let logins: KafkaLogins;
  let stop = async () => {};
  const start = async (isKafkaOpen = false) => {
    const infrastructure = await startInfrastructure({
      ...{ dataDir, environment, isKafkaOpen },
      servers: ['kafka'],
      requireKafka: true,
    });
    kafka = infrastructure.kafka as KafkaServer;
    logins = kafka.logins as KafkaLogins;
    stop = () => infrastructure.stop();
  };

  // All of them use the data folder of a release whose broker admitted everybody.
  beforeAll(async () => {
    await start(true);
    const topics = TOPICS.map((topic) => ({ topic }));
    await asAdmin(client(kafka.brokers), (admin) => admin.createTopics({ topics }));
    await publish(client(kafka.brokers), 'runyard.runs');
    await stop();
    await start();
  });
  afterAll(() => stop());

  it('keeps what was published to it before it had users', async () => {
    // The first group of a broker waits for it to be ready for groups.
    expect(await read(client(kafka.brokers, logins.platform, 10), 'runyard.runs', 10)).toBe('forged');
  });

  it.each([
    ['nobody', undefined],
    ['a user with a wrong password', { mechanism: 'plain', username: 'runyard', password: 'guessed' }],
    ['nobody, by an empty login', { mechanism: 'plain', username: '', password: '' }],
  ])('lets %s list, read and publish nothing', async (_who, sasl) => {
    const stranger = client(kafka.brokers, sasl);
    await expect(asAdmin(stranger, (admin) => admin.listTopics())).rejects.toThrow();
    await expect(asAdmin(stranger, (admin) => admin.describeCluster())).rejects.toThrow();
    await expect(read(stranger, 'runyard.runs')).rejects.toThrow();
    await expect(publish(stranger, 'runyard.runs')).rejects.toThrow();
  });

  it('lets nobody without a login speak to its controller, nor the user of deployments', async () => {
    const port = readFileSync(join(dataDir, 'kafka-controller.port'), 'utf8');
    for (const sasl of [undefined, logins.deployments])
      await expect(asAdmin(client([`127.0.0.1:${port}`], sasl), (admin) => admin.describeCluster())).rejects.toThrow();
  });

  it('lets deployments publish to the topic of runs, also when it does not exist yet', async () => {
    const deployment = client(kafka.brokers, logins.deployments);
    await publish(deployment, 'runyard.runs');
    await asAdmin(client(kafka.brokers, logins.platform), (admin) => admin.deleteTopics({ topics: ['runyard.runs'] }));
    await asAdmin(deployment, (admin) => admin.createTopics({ topics: [{ topic: 'runyard.runs' }] }));
    await publish(deployment, 'runyard.runs');
  });

  it('lets deployments read nothing, publish nowhere else, and see, create and delete no other topics', async () => {
    const deployment = client(kafka.brokers, logins.deployments);
    expect(await asAdmin(deployment, (admin) => admin.listTopics())).toEqual(['runyard.runs']);
    for (const topic of TOPICS) await expect(read(deployment, topic)).rejects.toThrow();
    for (const topic of TOPICS.slice(1)) await expect(publish(deployment, topic)).rejects.toThrow();
    const refused: [string, (admin: kafkajs.Admin) => Promise<unknown>][] = [
      ['create a topic', (admin) => admin.createTopics({ topics: [{ topic: 'mine' }] })],
      ['delete its topic', (admin) => admin.deleteTopics({ topics: ['runyard.runs'] })],
      [
        'empty its topic',
        (admin) => admin.deleteTopicRecords({ topic: 'runyard.runs', partitions: [{ partition: 0, offset: '-1' }] }),
      ],
      ['see the groups of others', async (admin) => expect((await admin.listGroups()).groups).not.toEqual([])],
      [
        'move the position of a group',
        (admin) =>
          admin.setOffsets({
            groupId: 'runyard-gateway',
            topic: 'runyard.deployments',
            partitions: [{ partition: 0, offset: '0' }],
          }),
      ],
      [
        'give itself more rights',
        (admin) =>
          admin.createAcls({
            acl: [
              {
                principal: `User:${logins.deployments.username}`,
                host: '*',
                operation: AclOperationTypes.ALL,
                permissionType: AclPermissionTypes.ALLOW,
                resourceType: AclResourceTypes.TOPIC,
                resourceName: '*',
                resourcePatternType: ResourcePatternTypes.LITERAL,
              },
            ],
          }),
      ],
    ];
    for (const [what, attempt] of refused) await expect(asAdmin(deployment, attempt), what).rejects.toThrow();
    const platform = client(kafka.brokers, logins.platform);
    expect(await asAdmin(platform, (admin) => admin.listTopics())).toEqual(expect.arrayContaining(TOPICS));
    const { resources } = await asAdmin(platform, (admin) =>
      admin.describeAcls({
        resourceType: AclResourceTypes.ANY,
        resourcePatternType: ResourcePatternTypes.ANY,
        permissionType: AclPermissionTypes.ANY,
        operation: AclOperationTypes.ANY,
      }),
    );
    expect(
      resources.map(({ resourceName, acls }) => [resourceName, acls.map(({ operation }) => operation).sort()]),
    ).toEqual([['runyard.runs', [AclOperationTypes.WRITE, AclOperationTypes.CREATE]]]);
  });

  it('keeps its passwords in files of their owner alone: in no log and no command line', () => {
    const passwords = [logins.platform.password, logins.deployments.password];
    expect(new Set(passwords).size).toBe(2);
    for (const name of ['kafka.properties', 'kafka.password', 'kafka-deployments.password'])
      expect(statSync(join(dataDir, name)).mode & 0o777, name).toBe(0o600);
    const seen = readFileSync(join(dataDir, 'kafka.log'), 'utf8') + execFileSync('ps', ['-eo', 'args']).toString();
    expect(seen).not.toContain(passwords[0]);
    expect(seen).not.toContain(passwords[1]);
  });

  it('starts with the classes that the first broker of this machine left in an archive', () => {
    const archives = readdirSync(cache).filter((name) => name.startsWith('kafka-classes-'));
    expect(archives).toEqual([expect.stringMatching(/\.jsa$/)]);
    const [broker] = execFileSync('pgrep', ['-af', join(dataDir, 'kafka.properties')])
      .toString()
      .split('\n');
    expect(broker).toContain(`-XX:SharedArchiveFile=${join(cache, archives[0]!)} `);
    expect(readFileSync(join(dataDir, 'kafka.log'), 'utf8')).not.toMatch(/\[warning\]\[cds\].*mismatch/);
  });

  it('is used under another data folder as the environment configures it, by both users', async () => {
    const startGuest = (more: Record<string, string>) =>
      startInfrastructure({
        dataDir: join(folder, 'guest'),
        servers: ['kafka'],
        environment: { ...environment, RUNYARD_KAFKA_BROKERS: kafka.brokers.join(','), ...more },
      });
    const platform = {
      RUNYARD_KAFKA_SASL_USERNAME: logins.platform.username,
      RUNYARD_KAFKA_SASL_PASSWORD: logins.platform.password,
    };
    const users = {
      ...platform,
      RUNYARD_DEPLOYMENT_KAFKA_SASL_USERNAME: logins.deployments.username,
      RUNYARD_DEPLOYMENT_KAFKA_SASL_PASSWORD: logins.deployments.password,
    };
    const guest = await startGuest(users);
    expect(guest.kafka?.origin).toBe('environment');
    expect(guest.kafka?.brokers).toEqual(kafka.brokers);
    expect(guest.kafka?.logins).toEqual(logins);
    await guest.stop();
    await expect(startGuest({})).rejects.toThrow(/^Kafka at RUNYARD_KAFKA_BROKERS cannot be used: /);
    await expect(startGuest(platform)).rejects.toThrow('RUNYARD_DEPLOYMENT_KAFKA_SASL_USERNAME is missing');
    await expect(startGuest({ ...users, RUNYARD_DEPLOYMENT_KAFKA_SASL_PASSWORD: 'guessed' })).rejects.toThrow(
      /cannot be used: .*authentication failed/i,
    );
    await expect(startGuest({ RUNYARD_KAFKA_SASL_PASSWORD: 'secret' })).rejects.toThrow(
      'RUNYARD_KAFKA_SASL_USERNAME is required with RUNYARD_KAFKA_SASL_PASSWORD.',
    );
  });

  it('takes other passwords after a start for which the files of the old ones were removed', async () => {
    const old = logins;
    await stop();
    for (const name of ['kafka.password', 'kafka-deployments.password']) rmSync(join(dataDir, name));
    await start();
    await expect(publish(client(kafka.brokers, old.deployments), 'runyard.runs')).rejects.toThrow();
    await publish(client(kafka.brokers, logins.deployments), 'runyard.runs');
  });
});

describe('the image of Kafka', () => {
  it('gets the same settings as variables, with names that its start script leaves alone', () => {
    const login = (username: string) => ({ mechanism: 'plain' as const, username, password: `${username}-secret` });
    const logins = { platform: login('runyard'), deployments: login('runyard-deployments') };
    const variables = imageVariables(serverProperties({ port: 9092, controllerPort: 9093, logins, host: '127.0.0.1' }));
    expect(variables).toMatchObject({
      KAFKA_LISTENERS: 'CLIENTS://:9092,CONTROLLER://127.0.0.1:9093',
      // The image requires a file with the users when a name contains `SASL_`.
      KAFKA_ADVERTISED_LISTENERS: 'CLIENTS://127.0.0.1:9092',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CLIENTS:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT',
      KAFKA_LISTENER_NAME_CLIENTS_PLAIN_SASL_JAAS_CONFIG: expect.stringContaining(
        'user_runyard-deployments="runyard-deployments-secret";',
      ),
      KAFKA_AUTHORIZER_CLASS_NAME: 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND: 'false',
    });
  });
});
