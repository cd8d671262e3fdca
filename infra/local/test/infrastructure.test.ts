import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Infrastructure, startInfrastructure } from '../src/index.ts';
import { queryPostgres } from '../src/postgres/connection.ts';
import { findPostgresInstallations, type PostgresInstallation } from '../src/postgres/installations.ts';
import { isNoneRunning, startInfrastructureProcess, waitForEnd } from './infrastructure-process.ts';

const folders: string[] = [];
function dataFolder(): string {
  // The folder is as private as mktemp makes it: no other account may enter.
  const folder = mkdtempSync(join(tmpdir(), 'runyard-infra-'));
  folders.push(folder);
  return join(folder, 'data');
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Returns an environment without addresses in which only the programs that `keep` selects are found. */
function environmentWith(keep: (program: string) => boolean): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-path-'));
  folders.push(folder);
  for (const source of (process.env.PATH ?? '').split(':').reverse()) {
    if (!existsSync(source)) continue;
    for (const program of readdirSync(source).filter(keep)) {
      rmSync(join(folder, program), { force: true });
      symlinkSync(join(source, program), join(folder, program));
    }
  }
  return { PATH: folder, HOME: process.env.HOME, JAVA_HOME: process.env.JAVA_HOME };
}
const nothing = () => false;

const processesOf = (dataDir: string) =>
  execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(dataDir));

const redisCall = async <T>(url: string, call: (redis: Redis) => Promise<T>): Promise<T> => {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 }).on('error', () => {});
  return call(redis).finally(() => redis.disconnect());
};

describe('Postgres and Redis', () => {
  it('keep their data over a restart, and leave no process when stopped', async () => {
    const dataDir = dataFolder();
    const first = await startInfrastructure({ dataDir, servers: ['postgres', 'redis'] });
    await queryPostgres(first.postgres.adminUrl, 'CREATE TABLE note AS SELECT 7 AS value');
    await redisCall(first.redis.url, (redis) => redis.set('note', 'seven'));
    await first.stop();
    expect(processesOf(dataDir)).toEqual([]);

    const second = await startInfrastructure({ dataDir, servers: ['postgres', 'redis'] });
    expect(second.postgres.adminUrl).toBe(first.postgres.adminUrl);
    expect(await queryPostgres(second.postgres.adminUrl, 'SELECT value FROM note')).toEqual([{ value: 7 }]);
    expect(await redisCall(second.redis.url, (redis) => redis.get('note'))).toBe('seven');
    await second.stop();
    expect(processesOf(dataDir)).toEqual([]);
  });
});

describe('Postgres and Redis that run twice side by side', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-infra-'));
  const dataDir = join(folder, 'one');
  let one: Infrastructure<'postgres' | 'redis'>;
  let two: Infrastructure<'postgres' | 'redis'>;
  beforeAll(async () => {
    [one, two] = await Promise.all([
      startInfrastructure({ dataDir, servers: ['postgres', 'redis'] }),
      startInfrastructure({ dataDir: join(folder, 'two'), servers: ['postgres', 'redis'] }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('have addresses of their own, and commit to disk', async () => {
    expect(one.postgres.adminUrl).not.toBe(two.postgres.adminUrl);
    expect(await queryPostgres(one.postgres.adminUrl, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
    expect(await redisCall(two.redis.url, (redis) => redis.config('GET', 'maxmemory-policy'))).toEqual([
      'maxmemory-policy',
      'noeviction',
    ]);
  });

  it('require a password that only the owner of the data folder can read', async () => {
    const without = (url: string) => url.replace(/:[^:@/]*@/, ':wrong@');
    await expect(queryPostgres(without(one.postgres.adminUrl), 'SELECT 1')).rejects.toThrow(/password/);
    await expect(redisCall(without(one.redis.url), (redis) => redis.ping())).rejects.toThrow();
    const modes = execFileSync('find', [dataDir, '-name', '*.password', '-printf', '%f %m\n'], { encoding: 'utf8' });
    expect(modes.split('\n').sort().join(' ').trim()).toBe('postgres.password 600 redis.password 600');
    const secrets = readdirSync(dataDir)
      .filter((name) => name.endsWith('.password'))
      .map((name) => readFileSync(join(dataDir, name), 'utf8').trim());
    expect(processesOf(dataDir).some((line) => secrets.some((secret) => line.includes(secret)))).toBe(false);
  });

  it('let the user of the history read events of deployments, and nothing else', async () => {
    const stream = '{runyard:d2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03}:bus:runyard.runs';
    const other = '{runyard:d2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03}:streams';
    await redisCall(one.redis.url, (redis) => redis.xadd(stream, '*', 'event', 'x'));
    await redisCall(one.redis.historyUrl, async (redis) => {
      await redis.xgroup('CREATE', stream, 'history', '0');
      const read = (await redis.xreadgroup('GROUP', 'history', 'me', 'STREAMS', stream, '>')) as [string, [string][]][];
      expect(await redis.xack(stream, 'history', read[0]![1][0]![0])).toBe(1);
      for (const refused of [
        () => redis.get(other),
        () => redis.del(other),
        () => redis.xreadgroup('GROUP', 'history', 'me', 'STREAMS', other, '>'),
        () => redis.xgroup('CREATE', other, 'history', '0', 'MKSTREAM'),
        () => redis.xadd(stream, '*', 'event', 'y'),
        () => redis.del(stream),
        () => redis.unlink(stream),
        () => redis.set(stream, 'nothing'),
        () => redis.rename(stream, `${stream}:away`),
        () => redis.pexpire(stream, 1),
        () => redis.eval(`return redis.call('DEL', KEYS[1])`, 1, stream),
        () => redis.xdel(stream, '0-1'),
        () => redis.xtrim(stream, 'MAXLEN', 0),
        () => redis.xgroup('DESTROY', stream, 'history'),
        () => redis.keys('*'),
        () => redis.config('GET', '*'),
        () => redis.flushall(),
      ]) {
        await expect(refused()).rejects.toThrow('NOPERM');
      }
    });
  });

  it('are used before any others by a platform whose environment has their addresses, and are left running', async () => {
    const guest = await startInfrastructure({
      dataDir: dataFolder(),
      servers: ['postgres', 'redis'],
      environment: { RUNYARD_POSTGRES_URL: one.postgres.adminUrl, RUNYARD_REDIS_URL: one.redis.url },
    });
    expect(guest.postgres).toMatchObject({ origin: 'environment', adminUrl: one.postgres.adminUrl });
    expect(guest.redis).toMatchObject({ origin: 'environment', url: one.redis.url });
    await guest.stop();
    expect(await redisCall(one.redis.url, (redis) => redis.ping())).toBe('PONG');
  });
});

describe('servers at another address of the machine', () => {
  const external = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const host = external.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2';

  it('are reached there, by their passwords, and not at the loopback address', async () => {
    const environment = { ...process.env, RUNYARD_KAFKA_BROKERS: '' };
    const servers = ['postgres', 'redis', 'kafka'] as const;
    const started = await startInfrastructure({ dataDir: dataFolder(), servers, host, environment });
    try {
      const { postgres, redis, kafka } = started;
      expect(await queryPostgres(postgres.adminUrl, 'SELECT host(inet_server_addr()) AS at')).toEqual([{ at: host }]);
      expect(await redisCall(redis.url, (client) => client.ping())).toBe('PONG');
      expect(
        [postgres.adminUrl, redis.url, redis.buildsUrl, redis.historyUrl].map((url) => new URL(url).hostname),
      ).toEqual(Array(4).fill(host));
      if (kafka) expect(kafka.brokers).toEqual([expect.stringContaining(`${host}:`)]);
      const withoutPassword = postgres.adminUrl.replace(/:[^:@/]*@/, ':wrong@');
      await expect(queryPostgres(withoutPassword, 'SELECT 1')).rejects.toThrow(/password/);
      const atLoopback = (url: string) => url.replace(`@${host}:`, '@127.0.0.1:');
      await expect(queryPostgres(atLoopback(postgres.adminUrl), 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
      await expect(redisCall(atLoopback(redis.url), (client) => client.ping())).rejects.toThrow();
    } finally {
      await started.stop();
    }
  });
});

describe('the owner of a data folder', () => {
  it('is one at a time: the second gets one sentence', async () => {
    const dataDir = dataFolder();
    const first = await startInfrastructure({ dataDir, servers: ['redis'] });
    await expect(startInfrastructure({ dataDir, servers: ['redis'] })).rejects.toThrow(
      `Process ${process.pid} already runs on ${dataDir}: stop it, or choose another folder with --data-dir.`,
    );
    await first.stop();
  });

  it('takes its servers along when it is killed, and written data is there at the next start', async () => {
    const dataDir = dataFolder();
    const holder = await startInfrastructureProcess(dataDir, ['postgres', 'redis']);
    const servers = await holder.servers();
    expect(servers.map((server) => server.name).sort()).toEqual(['Postgres', 'Redis']);
    await waitForEnd(holder.child, 'SIGKILL');
    await waitFor(() => isNoneRunning(servers), {
      what: 'the end of all servers',
    });

    const next = await startInfrastructure({ dataDir, servers: ['postgres', 'redis'] });
    expect(await queryPostgres(next.postgres.adminUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await next.stop();
  });

  it('stops at its start what a predecessor left running whose guard was killed too', async () => {
    const dataDir = dataFolder();
    const holder = await startInfrastructureProcess(dataDir, ['postgres', 'redis']);
    const servers = await holder.servers();
    const guard = execFileSync('pgrep', ['-P', String(holder.child.pid), '-f', 'runyard-guard'], { encoding: 'utf8' });
    process.kill(Number(guard), 'SIGKILL');
    await waitForEnd(holder.child, 'SIGKILL');
    expect(await isNoneRunning(servers)).toBe(false);

    const next = await startInfrastructure({ dataDir, servers: ['postgres', 'redis'] });
    expect(await isNoneRunning(servers)).toBe(true);
    expect(await queryPostgres(next.postgres.adminUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await next.stop();
  });
});

describe('the origin of a server', () => {
  it('is never guessed when the address in the environment does not answer', async () => {
    const environment = {
      ...process.env,
      RUNYARD_POSTGRES_URL: 'postgres://nobody@127.0.0.1:1/none',
      RUNYARD_REDIS_URL: 'redis://127.0.0.1:1',
      RUNYARD_KAFKA_BROKERS: '127.0.0.1:1',
    };
    const start = (name: 'postgres' | 'redis' | 'kafka') =>
      startInfrastructure({ dataDir: dataFolder(), servers: [name], environment });
    await expect(start('postgres')).rejects.toThrow(/^Postgres at RUNYARD_POSTGRES_URL cannot be used: .*ECONNREFUSED/);
    await expect(start('redis')).rejects.toThrow(/^Redis at RUNYARD_REDIS_URL cannot be used: /);
    await expect(start('kafka')).rejects.toThrow(/^Kafka at RUNYARD_KAFKA_BROKERS cannot be used: /);
  });

  it('is refused when that Redis may evict queued work', async () => {
    const owner = await startInfrastructure({ dataDir: dataFolder(), servers: ['redis'] });
    await redisCall(owner.redis.url, (redis) => redis.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    const guest = startInfrastructure({
      dataDir: dataFolder(),
      servers: ['redis'],
      environment: { RUNYARD_REDIS_URL: owner.redis.url },
    });
    await expect(guest).rejects.toThrow(/maxmemory-policy allkeys-lru .* set it to noeviction/);
    await owner.stop();
  });

  it('is the package registry where the machine has no Redis', async () => {
    const infrastructure = await startInfrastructure({
      dataDir: dataFolder(),
      servers: ['redis'],
      environment: environmentWith((program) => !/^(redis|valkey)-server$/.test(program)),
    });
    expect(infrastructure.redis.origin).toBe('registry');
    await infrastructure.stop();
  });

  it('is the package registry where the Postgres from there created the data folder', async () => {
    const dataDir = dataFolder();
    const installations: PostgresInstallation[] = [];
    for await (const installation of findPostgresInstallations(process.env)) installations.push(installation);
    const packaged = installations.find((installation) => installation.origin === 'registry');
    // An interrupted first start leaves this while it creates the folder.
    mkdirSync(join(dataDir, 'postgres/data'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres/data/PG_VERSION'), `${packaged?.major}\n`);
    const infrastructure = await startInfrastructure({ dataDir, servers: ['postgres'] });
    const [row] = await queryPostgres(infrastructure.postgres.adminUrl, 'SHOW server_version_num');
    expect(Math.floor(Number(row?.server_version_num) / 10_000)).toBe(packaged?.major);
    await infrastructure.stop();
  });

  it('is reported in one sentence when there is none at all', async () => {
    await expect(
      startInfrastructure({
        dataDir: dataFolder(),
        servers: ['redis'],
        environment: {
          ...environmentWith(nothing),
          ...{ XDG_CACHE_HOME: dataFolder(), PIP_INDEX_URL: 'http://127.0.0.1:1/simple' },
        },
      }),
    ).rejects.toThrow(
      /^There is no Redis here \(Valkey cannot be had from 127.0.0.1:1: .*\): install redis-server 6.2 or newer, or set RUNYARD_REDIS_URL/,
    );
  });
});

describe('Kafka', () => {
  it('is left out where there is no Java, which is reported in one line', async () => {
    const lines: string[] = [];
    const options = {
      servers: ['kafka'],
      environment: environmentWith(nothing),
      progress: (line: string) => void lines.push(line),
    } as const;
    const infrastructure = await startInfrastructure({ ...options, dataDir: dataFolder() });
    expect(infrastructure.kafka).toBeNull();
    expect(lines).toEqual(['Kafka: none (Java 17 is not on the PATH); events go over Redis Streams instead']);
    await infrastructure.stop();
    await expect(startInfrastructure({ ...options, dataDir: dataFolder(), requireKafka: true })).rejects.toThrow(
      /^There is no Kafka here .* and it is required/,
    );
  });

  it.each([
    ['that does not answer in time', 'exec sleep 600', 'did not answer within 0.2 s'],
    ['that ends while it starts', 'exit 3', 'ended while starting'],
  ])('%s is left out, which is reported in one line, and ends', async (_, program, how) => {
    const lines: string[] = [];
    const environment = environmentWith((name) => name === 'sleep');
    const dataDir = dataFolder();
    const installation = join(dataDir, '../kafka/bin');
    mkdirSync(installation, { recursive: true });
    mkdirSync(join(installation, '../libs'));
    // A distribution of Kafka 4 whose Java formats its folder and then runs the program.
    const java = `#!/bin/sh
      case "$*" in
        -version) echo 'openjdk version "21.0.1"' >&2;;
        *StorageTool*) ;;
        *) ${program};;
      esac`;
    writeFileSync(join(installation, 'java'), java, { mode: 0o755 });
    writeFileSync(join(installation, 'kafka-server-start.sh'), '', { mode: 0o755 });
    writeFileSync(join(installation, '../libs/kafka_2.13-4.1.1.jar'), '');
    const options = {
      servers: ['kafka'],
      environment: { ...environment, PATH: `${installation}:${environment.PATH}`, JAVA_HOME: undefined },
      dataDir,
      kafkaStartMs: 200,
      progress: (line: string) => void lines.push(line),
    } as const;
    const infrastructure = await startInfrastructure(options);
    expect(infrastructure.kafka).toBeNull();
    expect(lines).toEqual([expect.stringContaining(`Kafka: none (it ${how}`)]);
    expect(lines[0]).toMatch(/; see .*kafka\.log\); events go over Redis Streams instead$/);
    expect(processesOf(dataDir)).toEqual([]);
    await infrastructure.stop();
    await expect(startInfrastructure({ ...options, requireKafka: true })).rejects.toThrow(
      new RegExp(`^Kafka ${how}.*; the end of `),
    );
  });

  it('is left out where a container engine answers but cannot pull the image, which is reported in one line', async () => {
    const lines: string[] = [];
    const environment = environmentWith(nothing);
    const engine = [
      '#!/bin/sh',
      'case "$1" in version) echo 28.0.0;; rm) ;;',
      '  *) echo "Error response from daemon: lookup registry.example.com: no such host" >&2; exit 1;;',
      'esac',
    ];
    writeFileSync(join(environment.PATH ?? '', 'docker'), engine.join('\n'), { mode: 0o755 });
    const infrastructure = await startInfrastructure({
      servers: ['kafka'],
      environment,
      dataDir: dataFolder(),
      progress: (line) => void lines.push(line),
    });
    expect(infrastructure.kafka).toBeNull();
    expect(lines).toEqual([
      'kafka: pulling apache/kafka:4.1.1, once',
      'Kafka: none (Java 17 is not on the PATH, and apache/kafka:4.1.1 cannot be pulled: Error response from daemon: lookup registry.example.com: no such host); events go over Redis Streams instead',
    ]);
    await infrastructure.stop();
  });
});
