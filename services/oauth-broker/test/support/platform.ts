import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { PrincipalClaims } from '@runyard/contracts';
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
} from '@runyard/test-kit';
import { type Callers, makeCallers } from '@runyard/test-kit/callers';
import { INTERNAL_TOKEN } from '@runyard/test-kit/fake-platform';
import { configSchema } from '../../src/config.ts';
import { run } from '../../src/run.ts';
import { FakeControlPlane } from './fake-control-plane.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Answer<Body> {
  status: number;
  body: Body;
}

export interface TestPlatformOptions {
  /** True when the process itself matters: it is killed, measured, or looked at from outside. */
  hasOwnProcess?: boolean;
  /** Null: a start does not wait until the service is ready. */
  readyPath?: null;
  /** The control-plane to ask; default: a fake. */
  controlPlaneUrl?: string;
}

/** Runs oauth-broker with everything it needs, in this process or one of its own, and calls it. */
export class TestPlatform {
  readonly database: TestDatabase;
  readonly callers: Callers;
  readonly controlPlane: FakeControlPlane;
  readonly redis = testRedis();
  /**
   * The event bus is Redis here. The whole platform is tested with Kafka, which takes several times as long to start.
   */
  readonly bus = { kind: 'redis' as const, url: this.redis.url, prefix: this.redis.prefix };
  readonly #encryptionKey = randomBytes(32).toString('base64');
  readonly #environment: Record<string, string>;
  readonly #options: TestPlatformOptions;
  #service: TestService | undefined;
  #process: TestServiceProcess | undefined;

  private constructor(
    { database, callers, controlPlane }: Pick<TestPlatform, 'database' | 'callers' | 'controlPlane'>,
    environment: Record<string, string>,
    options: TestPlatformOptions,
  ) {
    this.database = database;
    this.callers = callers;
    this.controlPlane = controlPlane;
    this.#environment = environment;
    this.#options = options;
  }

  /** Opens what the service needs, and does not start it. */
  static async open(
    environment: Record<string, string> = {},
    options: TestPlatformOptions = {},
  ): Promise<TestPlatform> {
    const parts = {
      database: await createTestDatabase(`${root}prisma/migrations`),
      callers: await makeCallers('oauth-broker'),
      controlPlane: await FakeControlPlane.start(),
    };
    return new TestPlatform(parts, environment, options);
  }

  static async start(...options: Parameters<typeof TestPlatform.open>): Promise<TestPlatform> {
    const platform = await TestPlatform.open(...options);
    await platform.startService();
    return platform;
  }

  get service(): TestService {
    if (!this.#service) throw new Error('oauth-broker is not running');
    return this.#service;
  }

  /** Returns its own process, which can be killed. */
  get process(): TestServiceProcess {
    if (!this.#process) throw new Error('oauth-broker has no process of its own');
    return this.#process;
  }

  async stopService(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  /** Starts the service, or another process of it. */
  async startService(): Promise<TestService> {
    const { hasOwnProcess = false, controlPlaneUrl = this.controlPlane.url } = this.#options;
    const options: Omit<ServiceProcessOptions, 'entry'> = {
      readyPath: this.#options.readyPath === null ? null : '/ok?check_db=1',
      env: {
        EVENT_BUS: this.bus.kind,
        TOPIC_PREFIX: this.bus.prefix,
        ORG_ACCESS_URL: this.callers.orgAccessUrl,
        CONTROL_PLANE_URL: controlPlaneUrl,
        PUBLIC_URL: 'https://agents.example.com',
        ...this.#environment,
      },
      secrets: {
        DATABASE_URI: this.database.url,
        REDIS_URI: this.redis.url,
        EVENT_BUS_REDIS_URI: this.bus.url,
        INTERNAL_TOKEN,
        ENCRYPTION_KEY: this.#encryptionKey,
      },
    };
    this.#process = hasOwnProcess ? await startServiceProcess({ ...options, entry: `${root}src/main.ts` }) : undefined;
    this.#service =
      this.#process ?? (await startServiceInProcess({ name: 'oauth-broker', schema: configSchema, run }, options));
    return this.#service;
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

  /** Returns the whole content of the database as text. */
  dump(): Promise<string> {
    return dumpDatabase(this.database.url);
  }

  async close(): Promise<void> {
    await this.stopService();
    await this.controlPlane.close();
    await this.callers.close();
    await this.database.close();
    await this.redis.close();
  }
}
