import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  type ApiKey,
  type BootstrapResponse,
  type IssuedApiKey,
  PRINCIPAL_HEADER,
  type VerifyKeyResponse,
} from '@runyard/contracts';
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
import { configSchema } from '../../src/config.ts';
import { PrismaClient } from '../../src/generated/client.ts';
import { run } from '../../src/run.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const INTERNAL_TOKEN = 'the platform speaks to itself alone';

export interface Answer<Body> {
  status: number;
  body: Body;
}

export interface OrgAccessOptions {
  environment?: Record<string, string>;
  /** Puts a proxy between the service and its database. */
  reach?: (url: string) => Promise<string>;
  /** True when the process itself matters: it is killed, or measured. */
  hasOwnProcess?: boolean;
}

/** Runs org-access with the default organization and its first administrator key, in this process or one of its own. */
export class TestOrgAccess {
  readonly database: TestDatabase;
  readonly #redis = testRedis();
  /**
   * The event bus is Redis here. The whole platform is tested with Kafka, which takes several times as long to start.
   */
  readonly bus = { kind: 'redis' as const, url: this.#redis.url, prefix: this.#redis.prefix };
  encryptionKey = randomBytes(32).toString('base64');
  bootstrap!: BootstrapResponse & { api_key: string };
  #service: TestService | undefined;
  #process: TestServiceProcess | undefined;
  #outputBefore = '';
  #queries: PrismaClient | undefined;

  readonly #databaseUri: string;
  readonly #environment: Record<string, string>;
  readonly #hasOwnProcess: boolean;

  private constructor(
    database: TestDatabase,
    databaseUri: string,
    { environment = {}, hasOwnProcess = false }: OrgAccessOptions,
  ) {
    this.database = database;
    this.#databaseUri = databaseUri;
    this.#environment = environment;
    this.#hasOwnProcess = hasOwnProcess;
  }

  static async start(options: OrgAccessOptions = {}): Promise<TestOrgAccess> {
    const database = await createTestDatabase(join(root, 'prisma/migrations'));
    const databaseUri = (await options.reach?.(database.url)) ?? database.url;
    const platform = new TestOrgAccess(database, databaseUri, options);
    await platform.startService();
    const { body } = await platform.internal<BootstrapResponse>('/internal/bootstrap', {});
    platform.bootstrap = body as BootstrapResponse & { api_key: string };
    return platform;
  }

  get service(): TestService {
    if (!this.#service) throw new Error('org-access is not running');
    return this.#service;
  }

  /** Returns everything that was logged so far. */
  output(): string {
    return this.#outputBefore + (this.#service?.output() ?? '');
  }

  /** Returns its own process, which can be killed. */
  get process(): TestServiceProcess {
    if (!this.#process) throw new Error('org-access has no process of its own');
    return this.#process;
  }

  async startService(): Promise<void> {
    const options: Omit<ServiceProcessOptions, 'entry'> = {
      readyPath: '/ok?check_db=1',
      env: {
        LOG_LEVEL: 'debug',
        EVENT_BUS: this.bus.kind,
        TOPIC_PREFIX: this.bus.prefix,
        ...this.#environment,
      },
      secrets: {
        DATABASE_URI: this.#databaseUri,
        EVENT_BUS_REDIS_URI: this.bus.url,
        INTERNAL_TOKEN,
        ENCRYPTION_KEY: this.encryptionKey,
      },
    };
    this.#process = this.#hasOwnProcess
      ? await startServiceProcess({ ...options, entry: join(root, 'src/main.ts') })
      : undefined;
    this.#service =
      this.#process ?? (await startServiceInProcess({ name: 'org-access', schema: configSchema, run }, options));
  }

  async stopService(): Promise<void> {
    await this.#service?.stop();
    this.#outputBefore = this.output();
    this.#service = undefined;
  }

  async restart(): Promise<void> {
    await this.stopService();
    await this.startService();
  }

  internal<Body>(
    path: string,
    body: unknown,
    { method = 'POST', token = INTERNAL_TOKEN }: { method?: string; token?: string } = {},
  ): Promise<Answer<Body>> {
    return this.#fetch(method, path, body, { authorization: `Bearer ${token}` });
  }

  verify(key: string, request: { audience?: string; workspace_id?: string; organization_id?: string } = {}) {
    return this.internal<VerifyKeyResponse & { detail: string }>('/internal/keys/verify', {
      key,
      audience: 'org-access',
      ...request,
    });
  }

  /** Calls like the gateway, with a key and optionally in a workspace. */
  async call<Body>(
    key: string,
    method: string,
    path: string,
    body?: unknown,
    workspaceId?: string,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> {
    const verified = await this.verify(key, workspaceId ? { workspace_id: workspaceId } : {});
    if (verified.status !== 200) throw new Error(`the key is not good: ${JSON.stringify(verified)}`);
    return this.#fetch(method, path, body, { [PRINCIPAL_HEADER]: verified.body.token, ...headers });
  }

  /** Calls like the gateway for a person with a session, in one of their organizations or in none. */
  async callAs<Body>(
    session: { token: string; organizationId?: string },
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer<Body>> {
    const { token, organizationId } = session;
    const verified = await this.verify(token, organizationId ? { organization_id: organizationId } : {});
    if (verified.status !== 200) throw new Error(`the session is not good: ${JSON.stringify(verified)}`);
    return this.#fetch(method, path, body, { [PRINCIPAL_HEADER]: verified.body.token });
  }

  /** Calls like the gateway for somebody without a credential. */
  anonymous<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    return this.#fetch<Body>(method, path, body, {});
  }

  /** Calls as the first administrator. */
  asAdmin<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    return this.call<Body>(this.bootstrap.api_key, method, path, body);
  }

  async issue(body: Record<string, unknown> = {}, path = '/api/v1/orgs/current/service-keys'): Promise<IssuedApiKey> {
    const answer = await this.asAdmin<IssuedApiKey>('POST', path, body);
    if (answer.status !== 200) throw new Error(`not issued: ${JSON.stringify(answer)}`);
    return answer.body;
  }

  async list(key: string, path = '/api/v1/orgs/current/service-keys'): Promise<ApiKey[]> {
    return (await this.call<ApiKey[]>(key, 'GET', path)).body;
  }

  /** Reads the database, for what no operation shows. */
  async query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    this.#queries ??= new PrismaClient({ adapter: new PrismaPg({ connectionString: this.database.url, max: 1 }) });
    return this.#queries.$queryRawUnsafe<Row[]>(sql, ...values);
  }

  /** Returns the whole content of the database as text. */
  dump(): Promise<string> {
    return dumpDatabase(this.database.url);
  }

  async close(): Promise<void> {
    await this.stopService();
    await this.#queries?.$disconnect();
    await this.database.close();
    await this.#redis.close();
  }

  async #fetch<Body>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer<Body>> {
    const answer = await fetch(this.service.url + path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
  }
}
