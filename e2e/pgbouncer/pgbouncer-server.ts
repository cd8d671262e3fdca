import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort, waitFor } from '@runyard/test-kit';

export interface PgBouncer {
  /** Returns the URL of a database of the server behind it. */
  urlOf(database: string): string;
  stop(): Promise<void>;
}

/** PgBouncer does not run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

/** Starts PgBouncer in front of a server, as docs/services/README.md tells to set it for transaction pooling. */
export async function startPgBouncer(serverUrl: string, settings: Record<string, string> = {}): Promise<PgBouncer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-pgbouncer-'));
  const file = path.join(folder, 'pgbouncer.ini');
  const port = await freePort();
  await writeFile(file, configuration(new URL(serverUrl), port, settings), { mode: 0o600 });
  if (NOBODY.uid !== undefined) for (const each of [folder, file]) await chown(each, NOBODY.uid, NOBODY.gid);
  const child = spawn('pgbouncer', [file], { ...NOBODY, env: { PATH }, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'exit').then(() => {
    throw new Error(`PgBouncer ended\n${output}`);
  });
  ended.catch(() => undefined);
  const accepts = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  await Promise.race([ended, waitFor(accepts, { what: 'PgBouncer to listen' })]);
  return {
    urlOf: (database) => `postgres://anybody@127.0.0.1:${port}/${database}`,
    async stop() {
      const exited = ended.catch(() => undefined);
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the version of the PgBouncer on this machine, for example 1.21. */
export async function readPgBouncerVersion(): Promise<{ major: number; minor: number }> {
  const answer = await promisify(execFile)('pgbouncer', ['--version'], { env: { PATH } }).catch((cause: unknown) => {
    throw new Error('PgBouncer is not installed. On Debian: apt-get install pgbouncer', { cause });
  });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(answer.stdout) ?? [];
  return { major: Number(major), minor: Number(minor) };
}

function configuration(server: URL, port: number, settings: Record<string, string>): string {
  const { hostname, username, password } = server;
  const pgbouncer = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: '10',
    ignore_startup_parameters: 'options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout',
    ...settings,
  };
  return [
    '[databases]',
    `* = host=${hostname} port=${server.port} user=${decodeURIComponent(username)} password='${decodeURIComponent(password)}'`,
    '[pgbouncer]',
    ...Object.entries(pgbouncer).map(([name, value]) => `${name} = ${value}`),
    '',
  ].join('\n');
}
