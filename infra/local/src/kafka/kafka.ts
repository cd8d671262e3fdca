import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { findDocker, ImageUnavailableError, startContainer } from '../docker.ts';
import { writePrivateFile } from '../files/private-file.ts';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';
import { portFor } from '../ports.ts';
import { runProgram } from '../run-program.ts';
import type { ServerContext, StartedServer } from '../server-context.ts';
import type { SupervisedProcess } from '../supervision/supervised-process.ts';
import { untilAnswers } from '../until-answers.ts';
import { findKafka, type KafkaInstallation } from './installations.ts';

export interface KafkaServer extends StartedServer {
  brokers: string[];
}

const variable = 'RUNYARD_KAFKA_BROKERS';
/** A broker at rest needs some 150 MB of heap; the serial collector and one compiler tier keep the rest small. */
const javaOptions = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'];

/** Finds or starts a broker; when there is none to be had, says why, and the caller decides what to do without it. */
export async function startKafka(context: ServerContext): Promise<KafkaServer | { missing: string }> {
  const given = context.environment[variable];
  if (given) {
    const brokers = given.split(',').map((broker) => broker.trim());
    await askBroker(brokers).catch((error) => {
      throw new InfrastructureError(`Kafka at ${variable} cannot be used: ${reasonOf(error)}.`);
    });
    context.progress(`Kafka: the one at ${variable}`);
    return { origin: 'environment', brokers, stop: async () => {} };
  }
  const { dataDir } = context.supervisor;
  const logFile = join(dataDir, 'kafka.log');
  const found = await findKafka(context);
  const docker = 'missing' in found ? await findDocker(context.environment) : null;
  if ('missing' in found && !docker) return found;

  const port = await portFor(dataDir, 'kafka');
  const start = () =>
    'java' in found
      ? startInstalled(found, context, port, logFile)
      : startContainer(context.supervisor, docker ?? '', containerOf(context, port, logFile));
  const server = await start().catch((error: unknown) => {
    if (error instanceof ImageUnavailableError && 'missing' in found)
      return { missing: `${found.missing}, and ${error.message}` };
    throw error;
  });
  if ('missing' in server) return server;
  const brokers = [`127.0.0.1:${port}`];
  await untilAnswers({ server, logFile, timeoutMs: 60_000, ask: () => askBroker(brokers) });
  const origin = 'java' in found ? found.origin : 'docker';
  context.progress(`Kafka (${origin}) on port ${port}`);
  return { origin, brokers, stop: async () => void (await server.stop(8_000)) };
}

async function startInstalled(
  installation: KafkaInstallation,
  context: ServerContext,
  port: number,
  logFile: string,
): Promise<SupervisedProcess> {
  const { dataDir } = context.supervisor;
  const folder = join(dataDir, 'kafka');
  await mkdir(folder, { recursive: true });
  const configFile = join(dataDir, 'kafka.properties');
  const controllerPort = await portFor(dataDir, 'kafka-controller');
  await writePrivateFile(configFile, serverProperties({ port, controllerPort, folder }));
  const classPath = ['-cp', join(installation.libraries, '*')];
  if (!(await isFormatted(folder))) {
    const formatted = await runProgram(
      installation.java,
      [...javaOptions, ...classPath, 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', configFile],
      { cwd: dataDir, timeoutMs: 60_000 },
    );
    if (!formatted.ok)
      throw new InfrastructureError(`Kafka could not create its data folder: ${reasonOf(formatted.stderr)}`);
  }
  return context.supervisor.start({
    name: 'Kafka',
    command: installation.java,
    args: [...javaOptions, ...classPath, 'kafka.Kafka', configFile],
    cwd: dataDir,
    logFile,
  });
}

/** Names the cluster in its own files; it is alone in its folder, so any name does. */
const clusterId = 'UnVueWFyZExvY2FsS2Fma2E';

async function isFormatted(folder: string): Promise<boolean> {
  return readFile(join(folder, 'meta.properties')).then(
    () => true,
    () => false,
  );
}

/** One node that is broker and controller. Topics are made by the event bus, never by a mistyped name. */
export function serverProperties(server: { port: number; controllerPort: number; folder: string }): string {
  return Object.entries({
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${server.controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${server.port},CONTROLLER://127.0.0.1:${server.controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${server.port}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    // A backslash starts an escape in this format.
    'log.dirs': server.folder.replaceAll('\\', '/'),
    'auto.create.topics.enable': false,
    'num.partitions': 1,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'log.cleaner.dedupe.buffer.size': 4 * 1024 * 1024,
    'log.retention.hours': 168,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function containerOf(context: ServerContext, port: number, logFile: string) {
  return {
    name: 'kafka',
    image: 'apache/kafka:4.1.1',
    port: { host: port, container: port },
    volumes: {},
    env: {
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_LISTENERS: `PLAINTEXT://:${port},CONTROLLER://:9093`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: '1',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_HEAP_OPTS: '-Xmx256m',
    },
    logFile,
    progress: context.progress,
  };
}

/** Succeeds once the broker serves requests; its port is open well before. */
async function askBroker(brokers: string[]): Promise<void> {
  const admin = new kafkajs.Kafka({
    clientId: 'runyard-launcher',
    brokers,
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { retries: 0 },
  }).admin({ retry: { retries: 0 } });
  try {
    await admin.connect();
    await admin.describeCluster();
  } finally {
    await admin.disconnect();
  }
}
