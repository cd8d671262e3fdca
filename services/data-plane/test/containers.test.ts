import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENT_SERVER_LABEL, RevisionStartError } from '@runyard/deployments';
import { makeLogOpener } from '@runyard/revision-logs';
import { freePort, silentLogger } from '@runyard/service-kit';
import { createTestDatabase, HANGS_AFTER_MS, type TestDatabase, waitFor } from '@runyard/test-kit';
import { engineCalls } from '@runyard/test-kit/fake-engine';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContainerDriver, type ContainerDriverOptions } from '../src/drivers/container/container-driver.ts';
import type { RevisionSpec, RunningRevision } from '../src/drivers/driver.ts';
import { RunningRevisions } from '../src/drivers/running-revisions.ts';
import { containerOptions } from './support/container-options.ts';

const DEPLOYMENT = '0192f7a0-0000-7000-8000-000000000001';
const IMAGE = 'registry.example.com/agent:v1';
const REVISION = '0192f7a0-0000-7000-8000-000000000002';
let folder: string;
let running: RunningRevision | undefined;
let database: TestDatabase | undefined;
const orphans: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-containers-'));
});
afterEach(async () => {
  await running?.stop(0);
  running = undefined;
  for (const orphan of orphans.splice(0)) orphan.kill('SIGKILL');
  await database?.close();
  database = undefined;
  await rm(folder, { recursive: true, force: true });
});

function driver(changes: Partial<ContainerDriverOptions> = {}): ContainerDriver {
  const options = containerOptions({
    folder,
    logger: silentLogger,
    openLog: makeLogOpener(folder, silentLogger),
    running: new RunningRevisions(),
    platform: {
      host: '127.0.0.1',
      publicUrl: 'https://agents.example.com',
      jwksUrl: 'https://keys.example.com',
      graceSeconds: 5,
      logLevel: 'info',
      eventBus: { kind: 'redis', topicPrefix: '' },
    },
  });
  return new ContainerDriver({ ...options, leaseOwner: 'this-process', ...changes });
}

async function start(imageUri: string, changes: Partial<RevisionSpec> = {}, by = driver()): Promise<RunningRevision> {
  const spec: RevisionSpec = {
    deploymentId: DEPLOYMENT,
    revisionId: REVISION,
    isFirst: true,
    publicUrls: [],
    artifact: { kind: 'image', imageUri },
    resources: {},
    databaseUri: database?.url ?? 'postgres://role:password@postgres.example.com/database',
    redisUri: 'redis://redis.example.com',
    redisKeyPrefix: 'runyard:test',
    secrets: {},
    ...changes,
  };
  const options = { signal: new AbortController().signal, timeoutMs: HANGS_AFTER_MS, onUpstreams: () => undefined };
  running = await by.start(spec, options);
  return running;
}

const commands = async () => (await engineCalls(folder)).map(({ args }) => args);

describe('an image', () => {
  it('is pulled, inspected and run with these commands', async () => {
    database = await createTestDatabase();
    const resources = { cpu: 0.5, memory_mb: 512, queue_memory_mb: 256, queue_memory_limit_mb: 300 };
    const { hasCustomAuth } = await start('registry.example.com/agent-with-auth:v1', { resources });
    expect(hasCustomAuth).toBe(true);
    const [version, pull, inspect, list, network, reach, ...runs] = await commands();
    expect([version, pull, inspect]).toEqual([
      ['version', '--format', '{{.Server.Version}}'],
      ['pull', '--quiet', 'registry.example.com/agent-with-auth:v1'],
      ['image', 'inspect', '--format', '{{.Id}} {{json .Config}}', 'registry.example.com/agent-with-auth:v1'],
    ]);
    expect(list).toContain(`--filter=label=io.runyard.deployment=${DEPLOYMENT}`);
    expect(network).toEqual(['network', 'inspect', 'bridge', '--format', '{{json .IPAM.Config}}']);
    expect(reach!.slice(-3)).toEqual([
      'sha256:0123456789ab',
      'reach',
      `host.docker.internal:${new URL(database.url).port}`,
    ]);
    expect(reach!.some((arg) => /^--(publish|env)/.test(arg))).toBe(false);
    expect(runs.map((args) => args.at(-1))).toEqual(['agent-api', 'run-worker']);
    const [api, worker] = runs.map((args) =>
      args.map((arg) => arg.replace(/(-[0-9a-f]{6}$)|(?<=publish=127.0.0.1:)\d+/, '#')),
    );
    const common = (part: string) => [
      ...['run', '--interactive', '--rm', '--init', '--pull=never', '--log-driver=none', '--cap-drop=ALL'],
      ...['--security-opt=no-new-privileges', '--pids-limit=1024', '--user=1000:1000'],
      ...[`--name=runyard-${REVISION}-${part}#`, `--label=io.runyard.deployment=${DEPLOYMENT}`],
      ...[`--label=io.runyard.revision=${REVISION}`, `--label=io.runyard.part=${part}`],
      ...['--label=io.runyard.holder=this-process', '--publish=127.0.0.1:#:8000'],
      '--add-host=host.docker.internal:host-gateway',
    ];
    expect(api!.slice(0, 20)).toEqual([
      ...common('agent-api'),
      ...['--cpus=1', '--memory-reservation=512m', '--memory=1024m'],
    ]);
    expect(worker!.slice(0, 20)).toEqual([
      ...common('run-worker'),
      ...['--cpus=1', '--memory-reservation=256m', '--memory=300m'],
    ]);
    // The command contains only names of variables, because every user of the machine can read it.
    const variables = api!.filter((arg) => arg.startsWith('--env='));
    expect(variables).toContain('--env=RUNYARD_SECRETS_FD');
    expect(variables.every((variable) => /^--env=[A-Z_]+$/.test(variable))).toBe(true);
    expect(api!.at(-2)).toBe('sha256:0123456789ab');
  });

  it("of the platform's registry is pulled with a token that is stored nowhere", async () => {
    const credential = { host: 'agents.example.com', username: 'oauth2accesstoken', password: 'a pull token' };
    const by = driver({ credentialFor: async () => credential });
    await expect(start('agents.example.com/registry/x/missing:v1', {}, by)).rejects.toThrow(
      /cannot be pulled: Error response from daemon: manifest unknown/,
    );
    const login = (await engineCalls(folder)).find(({ args }) => args.includes('login'));
    expect(login?.args.slice(2)).toEqual([
      'login',
      '--username',
      credential.username,
      '--password-stdin',
      credential.host,
    ]);
    expect(login?.input).toBe(credential.password);
    expect(await readdir(join(folder, 'logins'))).toEqual([]);
  });

  it("that the platform has made of a project runs with the project's settings for the platform", async () => {
    database = await createTestDatabase();
    const imageUri = 'agents.example.com/registry/x/runyard-project:v1';
    await start(imageUri, { artifact: { kind: 'image', imageUri, settings: { N_JOBS_PER_WORKER: '7' } } });
    const runs = (await commands()).filter((args) => args[0] === 'run' && args.at(-2) !== 'reach');
    expect(runs.map((args) => args.includes('--env=N_JOBS_PER_WORKER'))).toEqual([true, true]);
  });

  it('whose registry is unreachable runs as this machine has it', async () => {
    database = await createTestDatabase();
    const credential = { host: 'agents.example.com', username: 'oauth2accesstoken', password: 'a token of before' };
    const by = driver({ credentialFor: async () => ({ ...credential, isEarlier: true }) });
    await start('agents.example.com/registry/x/agent:v1', {}, by);
    expect((await commands()).filter((args) => args.includes('login') || args.includes('pull'))).toEqual([]);
  });

  it('that is not built from the base image is refused with advice', async () => {
    await expect(start('registry.example.com/foreign:v1')).rejects.toThrow(/--base-image runyard\/agent-server:20/);
    expect((await commands()).some(([command]) => command === 'run')).toBe(false);
  });

  it('is refused without a container engine, or when none answers', async () => {
    await expect(start('x:v1', {}, driver({ command: 'no-such-engine' }))).rejects.toThrow(
      /images need a container engine, and `no-such-engine` does not reach one/,
    );
    process.env.DOCKER_FAKE_IS_DOWN = '1';
    try {
      await expect(start('x:v1')).rejects.toThrow(/Cannot connect to the Docker daemon/);
    } finally {
      delete process.env.DOCKER_FAKE_IS_DOWN;
    }
  });
});

describe('a revision whose containers do not reach its database', () => {
  const failureOf = (databaseUri: string) => start(IMAGE, { databaseUri }).catch((error: unknown) => error as Error);

  it('fails at once and names the address, when this machine reaches it', async () => {
    database = await createTestDatabase();
    const { port } = new URL(database.url);
    process.env.DOCKER_FAKE_MACHINE = '127.0.0.9';
    try {
      const failure = await failureOf(database.url);
      expect(failure).toBeInstanceOf(RevisionStartError);
      expect(failure).toMatchObject({
        message: expect.stringContaining(
          `its containers cannot reach the database, which this machine can: connect ECONNREFUSED 127.0.0.9:${port} (host.docker.internal:${port}; docs/images.md`,
        ),
      });
      const runs = (await commands()).filter(([command]) => command === 'run');
      expect(runs.map((args) => args.at(-2))).toEqual(['reach']);
    } finally {
      delete process.env.DOCKER_FAKE_MACHINE;
    }
  });

  it('starts its services when this machine does not reach it either, since the server may come back', async () => {
    const failure = await failureOf(`postgres://role:password@127.0.0.1:${await freePort()}/database`);
    expect(failure).toMatchObject({ message: expect.stringMatching(/agent-api ended with code 1 before/) });
  });
});

it('the base image declares that it takes part', async () => {
  const dockerfile = new URL('../../../infra/docker/agent-server/Dockerfile', import.meta.url);
  expect(await readFile(dockerfile, 'utf8')).toContain(`\nLABEL ${AGENT_SERVER_LABEL}=1\n`);
});

it('a container whose command is killed is removed, and another one replaces it', async () => {
  database = await createTestDatabase();
  const revision = await start(IMAGE);
  const [before] = revision.upstreams;
  process.kill(await commandOf('agent-api'), 'SIGKILL');
  await waitFor(() => revision.upstreams[0] !== undefined && revision.upstreams[0] !== before, {
    what: 'another upstream',
  });
  const parts = (await readdir(join(folder, 'containers'))).map((name) => /(agent-api|run-worker)/.exec(name)?.[0]);
  expect(parts.sort()).toEqual(['agent-api', 'run-worker']);
});

/** Returns the process id of the engine's command that runs a part. */
async function commandOf(part: string): Promise<number> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (line.includes(`--name=runyard-${REVISION}-${part}`) && environment.includes(folder)) return Number(pid);
  }
  throw new Error(`nothing runs ${part}`);
}

it("a deployment's pushed images are removed from the engine with it, under their registry names only", async () => {
  const repository = `agents.example.com/registry/${DEPLOYMENT}/agent`;
  process.env.DOCKER_FAKE_IMAGES = `${repository} v2 sha256:22\n${repository} <none> sha256:11\n${repository} v3 <none>\n`;
  try {
    await driver().removeLeftovers(DEPLOYMENT);
  } finally {
    delete process.env.DOCKER_FAKE_IMAGES;
  }
  const [list, removal] = (await commands()).filter(([command]) => command === 'image');
  expect(list).toContain(`--filter=reference=*/registry/${DEPLOYMENT}/*`);
  expect(removal).toEqual([
    ...['image', 'rm', `${repository}:v2`, `${repository}@sha256:22`, `${repository}@sha256:11`, `${repository}:v3`],
  ]);
});

describe('containers of a killed process', () => {
  it('are removed before their deployment starts again, and with it, while those of others stay', async () => {
    await mkdir(join(folder, 'containers'));
    const leave = async (name: string, deployment: string, leaseOwner: string) => {
      const orphan = spawn('sleep', ['600'], { stdio: 'ignore' });
      orphans.push(orphan);
      const labels = { 'io.runyard.deployment': deployment, 'io.runyard.holder': leaseOwner };
      await writeFile(join(folder, 'containers', name), JSON.stringify({ name, pid: orphan.pid, labels }));
      return orphan;
    };
    const left = await leave('left', DEPLOYMENT, 'killed-process');
    const own = await leave('own', DEPLOYMENT, 'this-process');
    const other = await leave('other', 'another-deployment', 'killed-process');
    const gone = once(left, 'exit');
    await driver().removeLeftovers(DEPLOYMENT);
    await gone;
    expect([own.exitCode, own.signalCode, other.exitCode, other.signalCode]).toEqual([null, null, null, null]);
    expect((await readdir(join(folder, 'containers'))).sort()).toEqual(['other', 'own']);
  });
});
