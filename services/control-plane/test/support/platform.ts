import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Deployment, DeploymentList, PrincipalClaims, Revision, RouteSnapshot } from '@runyard/contracts';
import {
  createTestDatabase,
  dumpDatabase,
  type ServiceProcessOptions,
  startServiceInProcess,
  startServiceProcess,
  type TestDatabase,
  type TestService,
  type TestServiceProcess,
  testRedis,
  waitFor,
} from '@runyard/test-kit';
import { type Callers, makeCallers } from '@runyard/test-kit/callers';
import { configSchema } from '../../src/config.ts';
import { run } from '../../src/run.ts';
import { DATA_PLANE_KEY, INTERNAL_TOKEN } from './credentials.ts';
import { RegistryProcess, startEmptyRegistry, type TestRegistry } from './registries.ts';
import { TestDataPlane } from './remote-data-plane.ts';
import { TestBuilder } from './test-builder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Answer<Body> {
  status: number;
  body: Body;
}

/** Returns what the registry is told of the base image of projects. */
function pickBaseImage(environment: Record<string, string>): Record<string, string> {
  const isOfBase = ([name]: [string, string]) => /^(PROJECT_BASE_IMAGE|OUTBOUND_ALLOWED_NETWORKS)/.test(name);
  return Object.fromEntries(Object.entries(environment).filter(isOfBase));
}

export interface TestPlatformOptions {
  /** True when the process itself matters: it is killed, measured, or looked at from outside. */
  hasOwnProcess?: boolean;
  /** True when images are pushed or made: the registry runs too. */
  hasRegistry?: boolean;
  /** False when nothing is run, or data planes of the test's own run it. */
  hasDataPlane?: boolean;
  /** True when the builder is killed, too. */
  hasBuilderProcess?: boolean;
}

/**
 * Runs control-plane and a data plane with everything they need, in this process or ones of their own, and calls
 * control-plane.
 */
export class TestPlatform {
  readonly database: TestDatabase;
  readonly callers: Callers;
  readonly folder: string;
  readonly projectDir: string;
  readonly redis = testRedis();
  /**
   * The event bus is Redis here. The whole platform is tested with Kafka, which takes several times as long to start.
   */
  readonly bus = { kind: 'redis' as const, url: this.redis.url, prefix: this.redis.prefix };
  readonly encryptionKey = randomBytes(32).toString('base64');
  readonly #environment: Record<string, string>;
  readonly #options: TestPlatformOptions;
  #registry: TestRegistry | undefined;
  /** The running control-planes, the newest last. */
  #services: TestService[] = [];
  #dataPlane: TestDataPlane | undefined;
  #builder: TestBuilder | undefined;

  private constructor(
    { database, callers, folder }: Pick<TestPlatform, 'database' | 'callers' | 'folder'>,
    environment: Record<string, string>,
    options: TestPlatformOptions,
  ) {
    this.database = database;
    this.callers = callers;
    this.folder = folder;
    this.projectDir = join(folder, 'project');
    this.#environment = environment;
    this.#options = options;
  }

  static async start(
    environment: Record<string, string> = {},
    options: TestPlatformOptions = {},
  ): Promise<TestPlatform> {
    const folder = await mkdtemp(join(tmpdir(), 'runyard-control-plane-'));
    const database = await createTestDatabase(join(root, 'prisma/migrations'));
    const platform = new TestPlatform(
      { database, callers: await makeCallers('control-plane'), folder },
      environment,
      options,
    );
    await platform.makeProject('project');
    platform.#registry = options.hasRegistry
      ? await RegistryProcess.start({
          folder,
          internalToken: INTERNAL_TOKEN,
          env: pickBaseImage(environment),
          controlPlane: (path, question) => platform.#answerRegistry(path, question),
        })
      : await startEmptyRegistry();
    await platform.startService();
    await platform.#registry.ready?.();
    return platform;
  }

  /** Creates a folder with a `langgraph.json` and returns its path. */
  async makeProject(name: string, config: object = { graphs: { agent: './agent.ts:graph' } }): Promise<string> {
    const path = join(this.folder, name);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'langgraph.json'), JSON.stringify(config));
    return path;
  }

  /** The control-plane that was started last. */
  get service(): TestService {
    const service = this.#services.at(-1);
    if (!service) throw new Error('control-plane is not running');
    return service;
  }

  /** The URL of the control-plane that data planes reach, the first that was started. */
  get urlForDataPlanes(): string {
    return this.#services[0]?.url ?? 'http://127.0.0.1:9';
  }

  get dataPlane(): TestDataPlane {
    if (!this.#dataPlane) throw new Error('the platform has no data plane');
    return this.#dataPlane;
  }

  get builder(): TestBuilder {
    if (!this.#builder) throw new Error('the platform has no builder');
    return this.#builder;
  }

  /** The URL of the registry for image tools. */
  get registryUrl(): string {
    return this.#registry!.url;
  }

  async #answerRegistry(path: string, body: unknown): Promise<unknown> {
    const headers = { authorization: `Bearer ${INTERNAL_TOKEN}`, 'content-type': 'application/json' };
    const answer = await this.call('POST', path, { headers, body });
    if (answer.status !== 200) throw new Error(`control-plane answers ${answer.status}`);
    return answer.body;
  }

  async stopService(): Promise<void> {
    await Promise.all([this.#dataPlane?.stop(), this.#builder?.stop()]);
    await Promise.all(this.#services.splice(0).map((each) => each.stop()));
  }

  /** Kills control-plane and the data plane, which have processes of their own. */
  async kill(): Promise<void> {
    await Promise.all([this.#dataPlane?.kill(), this.killControlPlane()]);
  }

  async killControlPlane(): Promise<void> {
    await Promise.all(this.#services.splice(0).map(kill));
  }

  /** Starts a control-plane, beside those that run, and the builder and the data plane unless they run. */
  async startService(): Promise<void> {
    await this.#startControlPlane();
    this.#builder ??= await TestBuilder.start(this, {
      environment: this.#environment,
      hasOwnProcess: this.#options.hasBuilderProcess === true,
    });
    if (!this.#builder.isRunning) await this.#builder.start();
    if (this.#options.hasDataPlane === false) return;
    this.#dataPlane ??= await TestDataPlane.ofPlatform(this, {
      environment: this.#environment,
      jwksUrl: `${this.callers.orgAccessUrl}/.well-known/jwks.json`,
    });
    if (!this.#dataPlane.isRunning) await this.#dataPlane.start();
  }

  async #startControlPlane(): Promise<void> {
    const options: Omit<ServiceProcessOptions, 'entry'> = {
      readyPath: '/ok?check_db=1',
      env: {
        EVENT_BUS: this.bus.kind,
        TOPIC_PREFIX: this.bus.prefix,
        ORG_ACCESS_URL: this.callers.orgAccessUrl,
        PUBLIC_URL: 'https://agents.example.com',
        DATA_DIR: this.folder,
        REGISTRY_SERVICE_URL: this.registryUrl,
        LOCAL_PROJECTS: 'true',
        LEASE_SECONDS: '3',
        BUILD_QUEUE_PREFIX: this.redis.prefix,
        ...this.#environment,
      },
      secrets: {
        DATABASE_URI: this.database.url,
        REDIS_URI: this.redis.url,
        EVENT_BUS_REDIS_URI: this.bus.url,
        INTERNAL_TOKEN,
        DATA_PLANE_KEY,
        ENCRYPTION_KEY: this.encryptionKey,
      },
    };
    this.#services.push(
      this.#options.hasOwnProcess
        ? await startServiceProcess({ ...options, entry: join(root, 'src/main.ts') })
        : await startServiceInProcess({ name: 'control-plane', schema: configSchema, run }, options),
    );
  }

  async call<Body>(
    method: string,
    path: string,
    options: { body?: unknown; as?: Partial<PrincipalClaims>; headers?: Record<string, string> } = {},
  ): Promise<Answer<Body>> {
    const answer = await fetch(this.service.url + path, {
      method,
      headers: options.headers ?? (await this.callers.headers(options.as)),
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
  }

  /** Creates a deployment with a valid body and these changes. */
  create(changes: Record<string, unknown> = {}): Promise<Answer<Deployment>> {
    const body = {
      name: `agent-${randomBytes(4).toString('hex')}`,
      source: 'local_directory',
      source_config: { project_path: this.projectDir },
      source_revision_config: {},
      ...changes,
    };
    return this.call<Deployment>('POST', '/v2/deployments', { body });
  }

  async createHealthy(changes: Record<string, unknown> = {}): Promise<Deployment> {
    const { status, body } = await this.create(changes);
    if (status !== 201) throw new Error(`not created: ${JSON.stringify(body)}`);
    await this.untilStatus(body.id, body.latest_revision_id!, 'DEPLOYED');
    return (await this.get(body.id)).body;
  }

  get(id: string): Promise<Answer<Deployment>> {
    return this.call('GET', `/v2/deployments/${id}`);
  }

  async untilStatus(id: string, revisionId: string, status: string): Promise<Revision> {
    let last: Revision | undefined;
    await waitFor(
      async () => {
        last = (await this.call<Revision>('GET', `/v2/deployments/${id}/revisions/${revisionId}`)).body;
        return last.status === status || last.status.includes('FAILED') ? last : null;
      },
      { what: `revision ${revisionId} being ${status}` },
    ).catch(() => undefined);
    if (last?.status === status) return last;
    throw new Error(`The revision is ${JSON.stringify(last)}, not ${status}. ${this.output().slice(-8000)}`);
  }

  /** Returns everything that control-plane, the data plane and the builder have said since they started. */
  output(): string {
    const dataPlane = this.#dataPlane?.isRunning ? this.#dataPlane.service.output() : '';
    const builder = this.#builder?.isRunning ? this.#builder.service.output() : '';
    return `${this.service.output()}\n${dataPlane}\n${builder}`;
  }

  /** Returns the whole content of control-plane's own database as text. */
  dump(): Promise<string> {
    return dumpDatabase(this.database.url);
  }

  async routes(): Promise<RouteSnapshot['routes']> {
    const headers = { authorization: `Bearer ${INTERNAL_TOKEN}` };
    return (await this.call<RouteSnapshot>('GET', '/internal/routes', { headers })).body.routes;
  }

  async routeOf(id: string): Promise<RouteSnapshot['routes'][number] | undefined> {
    return (await this.routes()).find((route) => route.deployment_id === id);
  }

  /** Waits for the base URL of the agent-api that serves a deployment. */
  upstreamOf(id: string): Promise<string> {
    return waitFor(async () => (await this.routeOf(id))?.upstreams[0], { what: `an upstream of ${id}` });
  }

  async deleteAll(): Promise<void> {
    const { body } = await this.call<DeploymentList>('GET', '/v2/deployments?limit=100');
    await Promise.all(body.resources.map(({ id }) => this.call('DELETE', `/v2/deployments/${id}`)));
  }

  async close(): Promise<void> {
    await this.deleteAll().catch(() => undefined); // After a failed test there may be no service.
    await this.stopService();
    await this.#dataPlane?.close();
    await this.#builder?.close();
    await this.#registry?.close();
    await this.callers.close();
    await this.database.close();
    await this.redis.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function kill(service: TestService): Promise<void> {
  if (!('pid' in service)) throw new Error('control-plane has no process of its own');
  await (service as TestServiceProcess).stop({ signal: 'SIGKILL' });
}
