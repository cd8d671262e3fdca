import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findDocker, startContainer } from '../docker.ts';
import { readOrCreateSecret } from '../files/private-file.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { choosePort } from '../ports.ts';
import { runProgram } from '../run-program.ts';
import type { ServerContext, StartedServer } from '../server-context.ts';
import type { SupervisedProcess } from '../supervision/supervised-process.ts';
import { waitForServer } from '../wait-for-server.ts';
import { changeOwner, chooseAccount, type RunAs } from './account.ts';
import { checkPostgres, queryPostgres } from './connection.ts';
import { chooseInstallation, findPostgresInstallations, type PostgresInstallation } from './installations.ts';
import { NO_POSTGRES, POSTGRES_VARIABLE } from './messages.ts';

export interface PostgresServer extends StartedServer {
  /** The connection string of an account that may create databases and roles. */
  adminUrl: string;
}

const superuser = 'runyard';

/**
 * Settings for a durable server (`fsync` and `synchronous_commit` stay on), sized for one machine: every service and
 * worker has its pool, and just-in-time compilation costs more than it saves on short statements.
 */
const settings = {
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  jit: 'off',
  log_checkpoints: 'off',
};

export async function startPostgres(context: ServerContext): Promise<PostgresServer> {
  const given = context.environment[POSTGRES_VARIABLE];
  if (given) {
    const version = await checkPostgres(given, POSTGRES_VARIABLE);
    context.progress(`Postgres ${version}: the one at ${POSTGRES_VARIABLE}`);
    return { origin: 'environment', adminUrl: given, stop: async () => {} };
  }
  const folder = join(context.supervisor.dataDir, 'postgres');
  await mkdir(folder, { recursive: true });
  const port = await choosePort(context.supervisor.dataDir, 'postgres');
  const password = await readOrCreateSecret(join(context.supervisor.dataDir, 'postgres.password'));
  const adminUrl = `postgres://${superuser}:${password}@${context.host}:${port}/postgres`;
  const launch = { context, folder, port, password, logFile: join(context.supervisor.dataDir, 'postgres.log') };

  const installation = await chooseInstallation(findPostgresInstallations(context.environment), join(folder, 'data'));
  const server = installation ? await startInstalled(installation, launch) : await startInDocker(launch);
  await waitForServer({
    server,
    logFile: launch.logFile,
    // The time is long, because after a crash the server first replays its log.
    timeoutMs: 60_000,
    ask: () => queryPostgres(adminUrl, 'SELECT 1'),
  });
  const origin = installation?.origin ?? 'docker';
  context.progress(`Postgres ${installation?.major ?? ''} (${origin}) on port ${port}`);
  return { origin, adminUrl, stop: async () => void (await server.stop(10_000)) };
}

interface Launch {
  context: ServerContext;
  folder: string;
  port: number;
  password: string;
  logFile: string;
}

async function startInstalled(installation: PostgresInstallation, launch: Launch): Promise<SupervisedProcess> {
  const data = join(launch.folder, 'data');
  const account = await chooseAccount([data, join(installation.bin, 'postgres')]);
  await changeOwner(account.owner, launch.folder);
  if (!(await hasData(data))) await initialise(installation, launch, account, data);
  await removeStalePidFile(data);
  const options = Object.entries({
    ...settings,
    listen_addresses: launch.context.host,
    port: String(launch.port),
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return launch.context.supervisor.start({
    name: 'Postgres',
    ...account.command(join(installation.bin, 'postgres'), ['-D', data, ...options]),
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    logFile: launch.logFile,
    // This signal means "fast" shutdown: it does not wait for clients to leave.
    stopSignal: 'SIGINT',
  });
}

async function initialise(
  installation: PostgresInstallation,
  launch: Launch,
  account: RunAs,
  data: string,
): Promise<void> {
  // An interrupted start left the folder half-made.
  await rm(data, { recursive: true, force: true });
  const passwordFile = join(launch.folder, 'initial-password');
  await writeFile(passwordFile, launch.password, { mode: 0o600 });
  await changeOwner(account.owner, passwordFile);
  const { command, args, ...ids } = account.command(join(installation.bin, 'initdb'), [
    ...['-D', data],
    ...['-U', superuser],
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
  ]);
  const making = runProgram(command, args, {
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    ...ids,
  });
  launch.context.progress('Postgres: creating its data folder, once', making);
  const made = await making;
  await rm(passwordFile, { force: true });
  if (!made.ok) throw new InfrastructureError(`Postgres could not create its data folder: ${made.stderr.trim()}`);
  // The address that it listens on decides who reaches it. Whoever does needs a password.
  await appendFile(join(data, 'pg_hba.conf'), 'host all all all scram-sha-256\n');
}

/**
 * Returns whether the folder is complete: `global/pg_control` is among the last files initdb writes, `PG_VERSION` among
 * the first.
 */
async function hasData(data: string): Promise<boolean> {
  return readFile(join(data, 'global/pg_control')).then(
    () => true,
    () => false,
  );
}

/**
 * Removes the `postmaster.pid` of a killed server. Postgres ignores it unless another process has the number now; as
 * this folder has one owner, and that one has stopped its leftovers, the file cannot belong to a live server.
 */
async function removeStalePidFile(data: string): Promise<void> {
  await rm(join(data, 'postmaster.pid'), { force: true });
}

async function startInDocker(launch: Launch): Promise<SupervisedProcess> {
  const docker = await findDocker(launch.context.environment);
  if (!docker) {
    throw new InfrastructureError(NO_POSTGRES);
  }
  return startContainer(launch.context.supervisor, docker, {
    name: 'postgres',
    image: 'postgres:17',
    host: launch.context.host,
    port: { host: launch.port, container: 5432 },
    volumes: { [join(launch.folder, 'container')]: '/var/lib/postgresql/data' },
    env: { POSTGRES_USER: superuser, POSTGRES_PASSWORD: launch.password, POSTGRES_DB: 'postgres' },
    command: ['-c', 'max_connections=200', '-c', 'shared_buffers=256MB', '-c', 'jit=off'],
    logFile: launch.logFile,
    progress: launch.context.progress,
  });
}
