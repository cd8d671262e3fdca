import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  DeploymentCreated,
  DeploymentDeleted,
  type JournalRun,
  type PrincipalClaims,
  type RunEvent,
  type RunSearchPage,
  redisKeyPrefix,
} from '@runyard/contracts';
import { createEventBus, type EventBus, makeEvent } from '@runyard/event-bus';
import { kafkaLoginVariables, silentLogger } from '@runyard/service-kit';
import {
  createTestDatabase,
  deleteKeys,
  FaultLine,
  type ServiceProcessOptions,
  startServiceInProcess,
  startServiceProcess,
  type TestDatabase,
  type TestKafka,
  type TestService,
  type TestServiceProcess,
  testKafka,
  testRedis,
  waitFor,
} from '@runyard/test-kit';
import { type Callers, makeCallers, ORGANIZATION, WORKSPACE } from '@runyard/test-kit/callers';
import { deploymentRoute, FakeControlPlane, INTERNAL_TOKEN } from '@runyard/test-kit/fake-platform';
import { v7 as uuidv7 } from 'uuid';
import { configSchema } from '../../src/config.ts';
import { run } from '../../src/run.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Answer<Body> {
  status: number;
  body: Body;
}

/** A run as a test tells it. */
export interface ToldRun {
  deploymentId: string;
  runId: string;
  threadId: string;
  assistantId: string;
}

export interface TestHistoryOptions {
  environment?: Record<string, string>;
  /** The event bus; default: Redis. Kafka takes several times as long to start. */
  bus?: 'kafka' | 'redis';
  /** True when the process itself matters: it is killed. */
  hasOwnProcess?: boolean;
}

/** Runs run-history beside fakes of its neighbours, publishes events of runs, and asks for them. */
export class TestHistory {
  readonly database: TestDatabase;
  readonly callers: Callers;
  readonly controlPlane: FakeControlPlane;
  /** Its connections can be cut. */
  readonly databaseLine: FaultLine;
  readonly redis = testRedis();
  readonly bus: EventBus;
  readonly #kafka: TestKafka | undefined;
  readonly #options: TestHistoryOptions;
  #service: TestService | undefined;
  #process: TestServiceProcess | undefined;

  private constructor(
    parts: Pick<TestHistory, 'database' | 'callers' | 'controlPlane' | 'databaseLine'>,
    options: TestHistoryOptions,
  ) {
    this.database = parts.database;
    this.callers = parts.callers;
    this.controlPlane = parts.controlPlane;
    this.databaseLine = parts.databaseLine;
    this.#options = options;
    this.#kafka = options.bus === 'kafka' ? testKafka() : undefined;
    this.bus = this.#openBus(this.redis.prefix);
  }

  static async start(options: TestHistoryOptions = {}): Promise<TestHistory> {
    const database = await createTestDatabase(`${root}prisma/migrations`);
    const parts = {
      database,
      callers: await makeCallers('run-history'),
      controlPlane: await FakeControlPlane.start(),
      databaseLine: await FaultLine.to(database.url),
    };
    const history = new TestHistory(parts, options);
    await history.startService();
    return history;
  }

  /** Opens the bus, or over Redis one of several. */
  #openBus(prefix: string): EventBus {
    const config = this.#kafka
      ? { kind: 'kafka' as const, clientId: 'test', ...this.#kafka }
      : { kind: 'redis' as const, url: this.redis.url, prefix };
    return createEventBus(config, { logger: silentLogger });
  }

  get service(): TestService {
    if (!this.#service) throw new Error('run-history is not running');
    return this.#service;
  }

  async startService(): Promise<void> {
    const options: Omit<ServiceProcessOptions, 'entry'> = {
      readyPath: '/ok?check_db=1',
      env: {
        ...(this.#kafka
          ? { EVENT_BUS: 'kafka', KAFKA_BROKERS: this.#kafka.brokers.join(','), TOPIC_PREFIX: this.#kafka.topicPrefix }
          : { EVENT_BUS: 'redis', TOPIC_PREFIX: this.redis.prefix }),
        ORG_ACCESS_URL: this.callers.orgAccessUrl,
        CONTROL_PLANE_URL: this.controlPlane.url,
        ...this.#options.environment,
      },
      secrets: {
        DATABASE_URI: this.databaseLine.url,
        EVENT_BUS_REDIS_URI: this.redis.url,
        DEPLOYMENTS_REDIS_URI: this.redis.url,
        ...(this.#kafka?.sasl && kafkaLoginVariables(this.#kafka.sasl)),
        INTERNAL_TOKEN,
      },
    };
    this.#process = this.#options.hasOwnProcess
      ? await startServiceProcess({ ...options, entry: `${root}src/main.ts` })
      : undefined;
    this.#service =
      this.#process ?? (await startServiceInProcess({ name: 'run-history', schema: configSchema, run }, options));
  }

  /** Kills the process without any warning. */
  async killService(): Promise<void> {
    await this.#process!.stop({ signal: 'SIGKILL' });
    this.#service = undefined;
  }

  async stopService(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  /** Adds a deployment to those that control-plane has, which publishes it. */
  async addDeployment(workspaceId: string = WORKSPACE): Promise<string> {
    const route = deploymentRoute({ upstreams: [], workspace_id: workspaceId, organization_id: ORGANIZATION });
    this.controlPlane.routes.push(route);
    const { deployment_id: id, name, workspace_id, organization_id } = route;
    const data = { deployment_id: id, name, workspace_id, organization_id };
    const event = makeEvent(DeploymentCreated, { source: '/test', subject: id, data });
    await this.bus.publish('deployments', [{ key: id, event }]);
    return id;
  }

  newRun(deploymentId: string, parts: Partial<ToldRun> = {}): ToldRun {
    return { deploymentId, runId: uuidv7(), threadId: uuidv7(), assistantId: randomUUID(), ...parts };
  }

  /** Publishes events of runs, in their order, on the bus of the first one's deployment. */
  async publish(...events: RunEvent[]): Promise<void> {
    const bus = this.#kafka ? this.bus : this.#openBus(redisKeyPrefix(events[0]!.data.deployment_id));
    await bus.publish(
      'runs',
      events.map((event) => ({ key: event.subject, event })),
    );
    if (bus !== this.bus) await bus.close();
  }

  /** Publishes that a deployment was deleted. */
  async publishDeleted(deploymentId: string): Promise<void> {
    const data = { deployment_id: deploymentId, workspace_id: WORKSPACE, organization_id: ORGANIZATION, version: 2 };
    const event = makeEvent(DeploymentDeleted, { source: '/test', subject: deploymentId, data });
    await this.bus.publish('deployments', [{ key: deploymentId, event }]);
  }

  async call<Body>(
    method: string,
    path: string,
    options: { body?: unknown; as?: Partial<PrincipalClaims> } = {},
  ): Promise<Answer<Body>> {
    const answer = await fetch(this.service.url + path, {
      method,
      headers: await this.callers.headers({ permissions: ['runs:read'], ...options.as }),
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Body };
  }

  async search(body: object = {}, as?: Partial<PrincipalClaims>): Promise<JournalRun[]> {
    const { status, body: page } = await this.call<RunSearchPage>('POST', '/v2/runs/search', {
      body,
      ...(as && { as }),
    });
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(page)}`);
    return page.runs;
  }

  /** Waits until a search finds so many runs, and returns them. */
  waitForRuns(count: number, body: object = {}): Promise<JournalRun[]> {
    return waitFor(async () => {
      const runs = await this.search({ limit: 200, ...body });
      return runs.length === count && runs;
    });
  }

  async close(): Promise<void> {
    await this.stopService();
    await this.bus.close();
    for (const { deployment_id } of this.controlPlane.routes) {
      await deleteKeys(this.redis.url, redisKeyPrefix(deployment_id));
    }
    await this.controlPlane.close();
    await this.callers.close();
    await this.databaseLine.close();
    await this.database.close();
    await this.redis.close();
  }
}

/** Makes an event of a run, at so many milliseconds after the time of its id. */
export function runEvent(
  { deploymentId, runId, threadId, assistantId }: ToldRun,
  kind: 'created' | 'started' | 'retried' | 'cancelled' | 'used' | 'finished',
  data: object = {},
  afterMs = 0,
): RunEvent {
  const madeAt = Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16);
  return {
    specversion: '1.0',
    id: randomUUID(),
    source: '/test',
    type: `runyard.run.${kind}`,
    subject: threadId,
    time: new Date(madeAt + afterMs).toISOString(),
    datacontenttype: 'application/json',
    data: { deployment_id: deploymentId, run_id: runId, thread_id: threadId, assistant_id: assistantId, ...data },
  } as RunEvent;
}

/** Makes the events of a run that succeeds. */
export function successOf(run: ToldRun, data: object = {}, durationMs = 100): RunEvent[] {
  return [
    runEvent(run, 'created', { graph_id: 'agent', metadata: {}, ...data }),
    runEvent(run, 'started', { attempt: 1 }, 10),
    runEvent(run, 'finished', { attempt: 1, status: 'success' }, 10 + durationMs),
  ];
}
