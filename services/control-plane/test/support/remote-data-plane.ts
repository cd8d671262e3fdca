import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Deployment, DeploymentRoute, Listener, RouteSnapshot } from '@runyard/contracts';
import {
  createTestDatabase,
  FaultLine,
  startServiceProcess,
  type TestDatabase,
  type TestServiceProcess,
  testRedis,
  waitFor,
} from '@runyard/test-kit';
import { WORKSPACE } from '@runyard/test-kit/callers';
import { AGENT } from '@runyard/test-kit/fake-engine';
import { DATA_PLANE_KEY, INTERNAL_TOKEN } from './credentials.ts';
import type { TestPlatform } from './platform.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const ENTRY = fileURLToPath(new URL('../../../data-plane/src/main.ts', import.meta.url));

/** Runs a data plane as on another machine: it reaches the platform over a line and cannot be reached itself. */
export class TestDataPlane {
  readonly line: FaultLine;
  /** True when the platform accepts its key. */
  isKeyGood = true;
  readonly #listener: Listener | undefined;
  readonly #front: Server;
  /** Its DATA_DIR. */
  readonly folder: string;
  /** A server of its own; undefined for a data plane of the platform, which all have the same. */
  readonly #database: TestDatabase | undefined;
  readonly #redis = testRedis();
  readonly #encryptionKey = randomBytes(32).toString('base64');
  readonly #environment: Record<string, string>;
  readonly #secrets: Record<string, string>;
  #service: TestServiceProcess | undefined;

  private constructor(options: {
    listener?: Listener;
    front: Server;
    line: FaultLine;
    folder: string;
    database: TestDatabase | undefined;
    environment: Record<string, string>;
    secrets: Record<string, string>;
  }) {
    this.#listener = options.listener;
    this.line = options.line;
    this.#front = options.front;
    this.folder = options.folder;
    this.#database = options.database;
    this.#environment = options.environment;
    this.#secrets = options.secrets;
  }

  /** Creates the data plane of a listener, with servers and a process of its own, without starting it. */
  static async of(
    platform: TestPlatform,
    listener: Listener,
    environment: Record<string, string> = {},
  ): Promise<TestDataPlane> {
    const own = { WORKSPACE_ID: WORKSPACE, LISTENER_ID: listener.id, PROJECTS_DIR: platform.folder };
    const database = await createTestDatabase(join(root, 'prisma/migrations'));
    const secrets = { API_KEY: 'the key of the workspace', DATA_POSTGRES_URI: database.url };
    return TestDataPlane.#make(platform, {
      ...{ listener, database, secrets },
      environment: { ...own, ...environment },
    });
  }

  /** Creates one of the platform's own data planes without starting it. All of them have the platform's servers. */
  static async ofPlatform(
    platform: TestPlatform,
    {
      environment = {},
      jwksUrl = 'https://keys.example.com/jwks.json',
    }: { environment?: Record<string, string>; jwksUrl?: string } = {},
  ): Promise<TestDataPlane> {
    const own = { PUBLIC_URL: 'https://agents.example.com', PLATFORM_JWKS_URL: jwksUrl };
    const secrets = {
      DATA_PLANE_KEY,
      DATA_POSTGRES_URI: platform.database.url,
      DATA_REDIS_URI: platform.redis.url,
    };
    return TestDataPlane.#make(platform, {
      ...{ database: undefined, secrets },
      environment: { ...own, ...environment },
    });
  }

  static async #make(
    platform: TestPlatform,
    options: {
      listener?: Listener;
      database: TestDatabase | undefined;
      environment: Record<string, string>;
      secrets: Record<string, string>;
    },
  ): Promise<TestDataPlane> {
    const key = { isGood: () => true };
    const front = await frontOf(platform, () => key.isGood());
    const dataPlane = new TestDataPlane({
      front,
      line: await FaultLine.to(`http://127.0.0.1:${(front.address() as AddressInfo).port}`),
      folder: await mkdtemp(join(tmpdir(), 'runyard-data-plane-')),
      ...options,
    });
    key.isGood = () => dataPlane.isKeyGood;
    return dataPlane;
  }

  get listener(): Listener {
    if (!this.#listener) throw new Error('the data plane is of the platform itself');
    return this.#listener;
  }

  get service(): TestServiceProcess {
    if (!this.#service) throw new Error('the data plane is not running');
    return this.#service;
  }

  get isRunning(): boolean {
    return this.#service !== undefined;
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  async kill(): Promise<void> {
    await this.service.stop({ signal: 'SIGKILL' });
    this.#service = undefined;
  }

  /** @param untilReady false when the data plane has to wait for something first */
  async start({ untilReady = true } = {}): Promise<void> {
    this.#service = await startServiceProcess({
      entry: ENTRY,
      cwd: fileURLToPath(new URL('../..', pathToFileURL(ENTRY))),
      readyPath: untilReady ? '/ok?check_db=1' : null,
      env: {
        EVENT_BUS: 'redis',
        TOPIC_PREFIX: this.#redis.prefix,
        CONTROL_PLANE_URL: `${this.line.url}api-host/`,
        DATA_DIR: this.folder,
        AGENT_API_COMMAND: AGENT,
        RUN_WORKER_COMMAND: AGENT,
        BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '5',
        ...this.#environment,
      },
      secrets: {
        DATA_REDIS_URI: this.#redis.url,
        EVENT_BUS_REDIS_URI: this.#redis.url,
        INTERNAL_TOKEN,
        ENCRYPTION_KEY: this.#encryptionKey,
        ...this.#secrets,
      },
    });
  }

  async routeOf({ id }: Pick<Deployment, 'id'>): Promise<DeploymentRoute | undefined> {
    const headers = { authorization: `Bearer ${INTERNAL_TOKEN}` };
    const answer = await fetch(`${this.service.url}/internal/routes`, { headers });
    const { routes } = (await answer.json()) as RouteSnapshot;
    return routes.find((route) => route.deployment_id === id);
  }

  /** Returns the start environment of a process that serves the deployment here. */
  async startedWith(deployment: Pick<Deployment, 'id'>): Promise<{ pid: number; own: Record<string, string> }> {
    const upstream = await waitFor(async () => (await this.routeOf(deployment))?.upstreams[0], {
      what: 'an upstream at the data plane',
    });
    const answer = await fetch(`${upstream}/started-with`);
    const { pid, secrets } = (await answer.json()) as { pid: number; secrets: Record<string, string> };
    return { pid, own: JSON.parse(secrets.PROJECT_ENV ?? '{}') };
  }

  async close(): Promise<void> {
    await this.stop();
    await this.line.close();
    await new Promise((resolve) => this.#front.close(resolve));
    await this.#database?.close();
    await this.#redis.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/**
 * Starts a fake gateway, which exchanges a valid key of the workspace for a principal token. Keys of data planes are
 * control-plane's to check.
 */
async function frontOf(platform: TestPlatform, isKeyGood: () => boolean): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { 'x-api-key': key, 'x-tenant-id': workspace, authorization } = request.headers;
    const isOfWorkspace = key === 'the key of the workspace' && workspace === WORKSPACE;
    if (!isKeyGood() || !(isOfWorkspace || authorization !== undefined)) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"detail":"Invalid API key"}');
      return;
    }
    const headers = isOfWorkspace
      ? await platform.callers.headers()
      : { authorization, 'content-type': 'application/json' };
    const path = (request.url ?? '/').replace(/^\/api-host/, '');
    const passed = forward(platform.urlForDataPlanes + path, { method: request.method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
