import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { openPool } from '@runyard/database';
import { type DataCipher, openDataCipher } from '@runyard/encryption';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import type pg from 'pg';
import { DatabaseAudit } from './database-audit.ts';
import { type Call, type CallOptions, History } from './history.ts';
import { kafkaVariables } from './kafka-variables.ts';
import { Ledger, type LedgerInput } from './ledger.ts';
import { Part } from './part.ts';
import type { Language, ProbeProject } from './probe-project.ts';
import type { BenchServers } from './servers.ts';
import { ownerHeaders, USER_SETTINGS } from './users.ts';

const repository = path.resolve(import.meta.dirname, '../../..');
const MIGRATIONS = 'packages/run-engine/prisma/migrations';

export interface DeploymentOptions {
  /** The number of agent-apis. Default 1. */
  agentApis?: number;
  /** The number of workers. Default 1. */
  workers?: number;
  /** Variables for all parts, over the bench's own settings. */
  env?: Record<string, string>;
  /** The bus of their events. Default kafka, as with `npm start`. */
  bus?: 'kafka' | 'redis';
  /**
   * Returns the URL by which the parts reach the database, given its address; each has a fault line of its own there.
   * Default: that address.
   */
  reachDatabase?: (url: string) => Promise<string>;
  /** True when its parts bypass the fault lines, as in `PartOptions`. */
  isDirect?: boolean;
  /** The checkout of the database's tables, and of parts that name none. Default: this one. */
  checkout?: string;
}

/** The options of a goal, and those that the bench adds. */
interface StartOptions extends DeploymentOptions {
  project: ProbeProject;
  /** True when the project's own code knows its users, who make all requests: each thread is of one of two. */
  hasUsers: boolean;
}

/** Options for many concurrent streams of many runs, which are read again at the end. */
export const MANY_STREAMS: DeploymentOptions = {
  workers: 2,
  bus: 'redis',
  isDirect: true,
  env: { N_JOBS_PER_WORKER: '30', RESUMABLE_STREAM_TTL_SECONDS: '600' },
};

/** A run that a client knows to be accepted, with its arguments. */
export interface BenchRun {
  runId: string;
  threadId: string;
  steps: number;
}

/** One deployment as real processes on the bench's servers, each reaching each server over a fault line of its own. */
export class BenchDeployment {
  readonly agentApis: Part[] = [];
  readonly workers: Part[] = [];
  readonly history = new History();
  readonly ledger: Ledger;
  readonly audit: DatabaseAudit;
  /** The language of its graphs. */
  readonly language: Language;
  /** Bypasses the fault lines: it is for inspection, never for the parts. */
  readonly pool: pg.Pool;
  /** Decrypts what its database holds. */
  readonly cipher: Pick<DataCipher, 'decrypt'>;
  readonly #database: TestDatabase;
  readonly #databaseUrl: string;
  readonly #servers: BenchServers;
  readonly #settings: Record<string, string>;
  readonly #isDirect: boolean;
  readonly #hasUsers: boolean;

  private constructor(
    database: TestDatabase,
    databaseUrl: string,
    servers: BenchServers,
    ledger: Ledger,
    { env = {}, bus = 'kafka', isDirect = false, hasUsers, project, checkout }: StartOptions,
  ) {
    this.#isDirect = isDirect;
    this.#hasUsers = hasUsers;
    // The release before this one has no login.
    const kafka = checkout === undefined ? servers.kafka : servers.openKafka;
    this.#database = database;
    this.#databaseUrl = databaseUrl;
    this.#servers = servers;
    this.ledger = ledger;
    this.language = project.language;
    this.pool = openPool({ connectionString: database.url, max: 6, applicationName: 'fault-bench' });
    const prefix = `bench-${randomUUID().slice(0, 8)}`;
    this.#settings = {
      REDIS_KEY_PREFIX: prefix,
      TOPIC_PREFIX: `${prefix}.`,
      ...(bus === 'kafka' && { EVENT_BUS: 'kafka', ...kafkaVariables(kafka.address) }),
      ...(bus === 'redis' && { EVENT_BUS: 'redis', EVENT_BUS_REDIS_URI: servers.redis.address.url }),
      PROJECT_DIR: project.folder,
      ...project.environment,
      DEPLOYMENT_ID: randomUUID(),
      REVISION_ID: 'bench',
      RUNYARD_AUTH: 'none',
      LOG_JSON: 'true',
      ...(hasUsers && USER_SETTINGS),
      ...env,
    };
    this.cipher = openDataCipher({ aesKey: this.#settings.LANGGRAPH_AES_KEY });
    this.audit = new DatabaseAudit(this.pool, ledger, this.cipher);
  }

  static async start(servers: BenchServers, folder: string, options: StartOptions): Promise<BenchDeployment> {
    if (options.checkout !== undefined) await servers.openKafka.start();
    const database = await createTestDatabase(path.join(options.checkout ?? repository, MIGRATIONS));
    const ledger = new Ledger(path.join(folder, `${database.name}.ledger.jsonl`));
    const databaseUrl = (await options.reachDatabase?.(database.url)) ?? database.url;
    const deployment = new BenchDeployment(database, databaseUrl, servers, ledger, options);
    try {
      await deployment.audit.watchStatuses();
      const { agentApis = 1, workers = 1, checkout } = options;
      for (let index = 0; index < agentApis; index += 1) await deployment.addPart('agent-api', checkout);
      for (let index = 0; index < workers; index += 1) await deployment.addPart('run-worker', checkout);
      await Promise.all(deployment.parts.map((part) => part.start()));
      return deployment;
    } catch (error) {
      await deployment.close();
      throw error;
    }
  }

  get parts(): Part[] {
    return [...this.agentApis, ...this.workers];
  }

  get topicPrefix(): string {
    return this.#settings.TOPIC_PREFIX ?? '';
  }

  get keyPrefix(): string {
    return this.#settings.REDIS_KEY_PREFIX ?? '';
  }

  /** Adds one more process, not started yet. */
  async addPart(
    service: 'agent-api' | 'run-worker',
    checkout?: string,
    env: Record<string, string> = {},
  ): Promise<Part> {
    const part = await Part.create({
      service,
      env: { ...this.#settings, ...env },
      servers: { DATABASE_URI: this.#databaseUrl, REDIS_URI: this.#servers.redis.address.url },
      isDirect: this.#isDirect,
      ...(checkout !== undefined && { checkout }),
    });
    (service === 'agent-api' ? this.agentApis : this.workers).push(part);
    return part;
  }

  /** Returns the URL of the first agent-api, or of another. */
  url(index = 0): string {
    const part = this.agentApis[index];
    if (!part) throw new Error(`there is no agent-api ${index}`);
    return part.url;
  }

  /** Returns the official SDK, without retries. */
  client(index = 0): Client {
    return new Client({ apiUrl: this.url(index), apiKey: null, callerOptions: { maxRetries: 0 } });
  }

  /** Sends a request to an agent-api and keeps it in the history. Never rejects. */
  call(method: string, pathAndQuery: string, options: CallOptions & { at?: number } = {}): Promise<Call> {
    const headers = { ...this.headersFor(pathAndQuery), ...options.headers };
    return this.history.call(method, this.url(options.at) + pathAndQuery, { ...options, headers });
  }

  /** Returns the headers of whoever asks for this path. */
  headersFor(path: string): Record<string, string> {
    return this.#hasUsers ? ownerHeaders(path) : {};
  }

  /**
   * Requests a run of the ledger graph on a new thread; undefined when it was not accepted, or when that is unknown.
   */
  async createRun(
    input: LedgerInput,
    options: CallOptions & { at?: number; run?: Record<string, unknown>; threadId?: string } = {},
  ): Promise<BenchRun | undefined> {
    const threadId = options.threadId ?? randomUUID();
    const call = await this.call('POST', `/threads/${threadId}/runs`, {
      ...options,
      body: this.ledger.runRequest(input, options.run),
    });
    if (call.outcome !== 'ok') return undefined;
    return { runId: (call.body as { run_id: string }).run_id, threadId, steps: input.steps };
  }

  async close(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.close()));
    await this.pool.end();
    await this.#database.close();
  }
}
