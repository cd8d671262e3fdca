import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KafkaLogin, KafkaTls } from '@runyard/service-kit/kafka-access';
import { findDocker, ImageUnavailableError, startContainer } from '../docker.ts';
import { readOrCreateSecret, writePrivateFile } from '../files/private-file.ts';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';
import { choosePort } from '../ports.ts';
import { runProgram } from '../run-program.ts';
import type { ServerContext, StartedServer } from '../server-context.ts';
import type { SupervisedProcess } from '../supervision/supervised-process.ts';
import { ServerNotReadyError, waitForServer } from '../wait-for-server.ts';
import { checkBroker, grantDeploymentRights } from './broker-access.ts';
import { openClassArchive } from './class-archive.ts';
import { BROKERS_VARIABLE, findExternalBroker } from './external-broker.ts';
import { findKafka, type KafkaInstallation } from './installations.ts';
import { imageVariables, type KafkaLogins, propertiesFile, serverProperties } from './server-properties.ts';

export interface KafkaServer extends StartedServer {
  brokers: string[];
  /** Absent where the broker admits everybody. */
  logins?: KafkaLogins;
  /** Absent where connections are not encrypted. */
  tls?: KafkaTls;
}

/** The reason why there is no broker, in a line, and the whole of it where one was started. */
export interface MissingKafka {
  missing: string;
  error?: ServerNotReadyError;
}

/** A broker at rest needs some 150 MB of heap; the serial collector and one compiler tier keep the rest small. */
const javaOptions = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'];

/** Milliseconds that a broker has to end in order. */
const STOP_MS = 8_000;

/** Finds or starts a broker; when there is none, returns the reason, and the caller decides what to do without it. */
export async function startKafka(context: ServerContext): Promise<KafkaServer | MissingKafka> {
  const named = await findExternalBroker(context.environment);
  if (named) {
    context.progress(`Kafka: the one at ${BROKERS_VARIABLE}`);
    return { origin: 'environment', ...named, stop: async () => {} };
  }
  const { dataDir } = context.supervisor;
  const logFile = join(dataDir, 'kafka.log');
  const found = await findKafka(context);
  const docker = 'missing' in found ? await findDocker(context.environment) : null;
  if ('missing' in found && !docker) return found;

  const port = await choosePort(dataDir, 'kafka');
  const logins = context.isKafkaOpen ? undefined : await readOrCreateLogins(dataDir);
  const launch: Launch = { context, port, logins, logFile };
  const start = () =>
    'java' in found
      ? startInstalled(found, launch)
      : startContainer(context.supervisor, docker ?? '', containerOptions(launch)).then((server) => ({ server }));
  const started: Started | MissingKafka = await start().catch((error: unknown) => {
    if (error instanceof ImageUnavailableError && 'missing' in found)
      return { missing: `${found.missing}, and ${error.message}` };
    throw error;
  });
  if ('missing' in started) return started;
  const { server, archive } = started;
  const brokers = [`${context.host}:${port}`];
  const ask = () =>
    logins ? grantDeploymentRights({ brokers, login: logins.platform }, logins.deployments) : checkBroker({ brokers });
  try {
    await waitForServer({ server, logFile, timeoutMs: context.kafkaStartMs, ask });
  } catch (error) {
    // A slow machine, or a broken data folder of a broker: the platform can do without.
    if (error instanceof ServerNotReadyError) return { missing: error.summary, error };
    throw error;
  }
  const origin = 'java' in found ? found.origin : 'docker';
  context.progress(`Kafka (${origin}) on port ${port}`);
  const stop = async () => {
    await server.stop(STOP_MS + (archive?.writingMs ?? 0));
    await archive?.kept;
  };
  return { origin, brokers, ...(logins && { logins }), stop };
}

interface Started {
  server: SupervisedProcess;
  /** The archive of its classes: `kept` resolves after its end. */
  archive?: { writingMs: number; kept: Promise<void> };
}

interface Launch {
  context: ServerContext;
  port: number;
  logins: KafkaLogins | undefined;
  logFile: string;
}

async function startInstalled(installation: KafkaInstallation, launch: Launch): Promise<Started> {
  const { context, port, logins, logFile } = launch;
  const { dataDir } = context.supervisor;
  const folder = join(dataDir, 'kafka');
  await mkdir(folder, { recursive: true });
  const configFile = join(dataDir, 'kafka.properties');
  const controllerPort = await choosePort(dataDir, 'kafka-controller');
  const properties = serverProperties({ port, controllerPort, logins, folder, host: context.host });
  // The passwords are in a private file because everybody can read a command line.
  await writePrivateFile(configFile, propertiesFile(properties));
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
  const classes = await readdir(installation.libraries);
  const identity = [installation.javaVersion, installation.libraries, ...classes].join('\n');
  const archive = await openClassArchive(identity, context.environment);
  const server = await context.supervisor.start({
    name: 'Kafka',
    command: installation.java,
    args: [...javaOptions, ...archive.options, ...classPath, 'kafka.Kafka', configFile],
    cwd: dataDir,
    logFile,
  });
  return { server, archive: { writingMs: archive.writingMs, kept: server.exited.then(archive.close) } };
}

/** The name of the cluster in its own files; it is alone in its folder, so any name will do. */
const clusterId = 'UnVueWFyZExvY2FsS2Fma2E';

async function isFormatted(folder: string): Promise<boolean> {
  return readFile(join(folder, 'meta.properties')).then(
    () => true,
    () => false,
  );
}

/** Returns the users of this data folder, each with a password that is kept there. */
async function readOrCreateLogins(dataDir: string): Promise<KafkaLogins> {
  const login = async (username: string, file: string): Promise<KafkaLogin> => ({
    mechanism: 'plain',
    username,
    password: await readOrCreateSecret(join(dataDir, file)),
  });
  return {
    platform: await login('runyard', 'kafka.password'),
    deployments: await login('runyard-deployments', 'kafka-deployments.password'),
  };
}

function containerOptions({ context, port, logins, logFile }: Launch) {
  return {
    name: 'kafka',
    image: 'apache/kafka:4.1.1',
    host: context.host,
    port: { host: port, container: port },
    volumes: {},
    env: {
      ...imageVariables(serverProperties({ port, controllerPort: 9093, logins, host: context.host })),
      KAFKA_HEAP_OPTS: '-Xmx256m',
    },
    logFile,
    progress: context.progress,
  };
}
