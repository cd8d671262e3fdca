import { FaultLine } from '@runyard/test-kit';
import { deploymentRoute, FakeControlPlane, FakeOrgAccess, INTERNAL_TOKEN } from '@runyard/test-kit/fake-platform';
import type { BenchDeployment } from './deployment.ts';
import { type Call, type CallOptions, History } from './history.ts';
import { Part } from './part.ts';
import type { BenchServers } from './servers.ts';

/**
 * A real gateway before processes of a deployment, each behind a fault line of its own; the services with its keys and
 * routes are fakes.
 */
export class BenchGateway {
  readonly history = new History();
  readonly part: Part;
  /** The lines between the gateway and each agent-api, in their order. */
  readonly lines: FaultLine[];
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #fakes: { close(): Promise<void> }[];

  private constructor(
    part: Part,
    lines: FaultLine[],
    deploymentId: string,
    key: string,
    fakes: { close(): Promise<void> }[],
  ) {
    this.part = part;
    this.lines = lines;
    this.#base = `${part.url}/deployments/${deploymentId}`;
    this.#headers = { 'x-api-key': key };
    this.#fakes = fakes;
  }

  static async start(
    deployment: Pick<BenchDeployment, 'agentApis'>,
    { redis, postgres }: Pick<BenchServers, 'redis' | 'postgres'>,
    env: Record<string, string> = {},
    /** Without lines a process that does not listen is known to be not reached. */
    { isDirect = false }: { isDirect?: boolean } = {},
  ): Promise<BenchGateway> {
    const [orgAccess, controlPlane] = await Promise.all([FakeOrgAccess.start(), FakeControlPlane.start()]);
    const lines = isDirect ? [] : await Promise.all(deployment.agentApis.map(({ url }) => FaultLine.to(url)));
    const upstreams = (isDirect ? deployment.agentApis : lines).map(({ url }) => url.replace(/\/$/, ''));
    const route = deploymentRoute({ upstreams });
    controlPlane.routes.push(route);
    const part = await Part.create({
      service: 'gateway',
      env: {
        ORG_ACCESS_URL: orgAccess.url,
        CONTROL_PLANE_URL: controlPlane.url,
        INTERNAL_TOKEN,
        EVENT_BUS: 'redis',
        EVENT_BUS_REDIS_URI: redis.address.url,
        LOG_JSON: 'true',
        ...env,
      },
      // It counts requests over Redis together with its replicas, and uses no database.
      servers: { DATABASE_URI: postgres.address.adminUrl, REDIS_URI: redis.address.url },
    });
    const { key } = orgAccess.issue(route.workspace_id);
    const gateway = new BenchGateway(part, lines, route.deployment_id, key, [orgAccess, controlPlane]);
    await part.start();
    return gateway;
  }

  /** The URL below which the deployment is. */
  get deploymentUrl(): string {
    return this.#base;
  }

  /** The credentials of a client. */
  get headers(): Record<string, string> {
    return { ...this.#headers };
  }

  /** Sends a request to the deployment and keeps it in the history. Never rejects. */
  call(method: string, pathAndQuery: string, options: CallOptions = {}): Promise<Call> {
    return this.history.call(method, this.#base + pathAndQuery, {
      ...options,
      headers: { ...this.#headers, ...options.headers },
    });
  }

  /**
   * Returns the number of admitted creates, and an upper bound of their 99th percentile in milliseconds, from when each
   * had been read.
   */
  async admittedCreates(): Promise<{ p99AtMostMs: number; count: number }> {
    const answer = await fetch(`${this.part.url}/metrics`, { headers: { authorization: `Bearer ${INTERNAL_TOKEN}` } });
    const ofCreates = /^runyard_http_requests_latency_bucket\{le="(.+?)",method="POST",.*status="200"\} (\d+)$/gm;
    const buckets = [...(await answer.text()).matchAll(ofCreates)].map(([, edge, count]) => ({
      edgeMs: edge === '+Inf' ? Number.POSITIVE_INFINITY : Number(edge),
      count: Number(count),
    }));
    const count = buckets.at(-1)?.count ?? 0;
    const holding = buckets.find((bucket) => bucket.count >= count * 0.99);
    return { p99AtMostMs: holding?.edgeMs ?? Number.NaN, count };
  }

  async close(): Promise<void> {
    await Promise.all(this.lines.map((line) => line.heal()));
    await this.part.close();
    await Promise.all(this.lines.map((line) => line.close()));
    await Promise.all(this.#fakes.map((fake) => fake.close()));
  }
}
