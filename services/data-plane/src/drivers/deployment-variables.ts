import { type ResourceSpec, TUNABLE_VARIABLES } from '@runyard/contracts';
import type { KafkaLogin, KafkaTls } from '@runyard/service-kit';
import { kafkaLoginVariables, kafkaTlsVariables } from '@runyard/service-kit';
import type { RevisionSpec } from './driver.ts';

/** The platform's settings that every part of every deployment gets. */
export interface PlatformSettings {
  /** Name or address that the processes listen on. */
  host: string;
  /** The public base URL of the platform; deployments are below it. */
  publicUrl: string;
  /** The URL of the keys that verify principal tokens. */
  jwksUrl: string;
  graceSeconds: number;
  /** Seconds of that for processes whose data plane has ended; undefined: all of them. */
  stopGraceSeconds?: number | undefined;
  /** Networks that are not public and to which deployments may still send requests for their callers. */
  outboundNetworks?: string[] | undefined;
  logLevel: string;
  /** True when deployments log a line for each of their runs. Default: false. */
  logRuns?: boolean;
  /** False where the deployments' databases are behind a pooler that keeps no prepared statements. */
  preparedStatements?: boolean;
  /** Variables by which deployments send their spans where the platform does; left out for no traces. */
  tracing?: Record<'env' | 'secrets', Record<string, string>>;
  eventBus: {
    kind: string;
    kafkaBrokers?: string;
    /** Replaces the host of brokers that advertise a loopback address; undefined: no replacement. */
    kafkaLoopbackHost?: string;
    /** The login of the deployments; undefined: brokers require none. */
    readKafkaLogin?: KafkaLogin | undefined;
    /** Undefined: connections to brokers are not encrypted. */
    readKafkaTls?: KafkaTls | undefined;
    topicPrefix: string;
  };
}

export interface ReplicaVariables {
  /** Variables without secrets. */
  env: Record<string, string>;
  secrets: Record<string, string>;
}

const GRACE_SECONDS_MAX = 3600;

/**
 * Returns the variables of an agent-api or run-worker of the revision, for every driver.
 *
 * @param own variables of the deployment and its project; some of them tune the platform's services
 */
export function replicaVariables(
  spec: RevisionSpec,
  own: Record<string, string>,
  platform: PlatformSettings,
  role: 'agent-api' | 'run-worker',
): ReplicaVariables {
  const publicUrls = [...spec.publicUrls, ...(own.PUBLIC_URLS ? [own.PUBLIC_URLS] : [])];
  const heapMb = heapMbOf(spec.resources, role);
  return {
    env: {
      LOG_LEVEL: platform.logLevel,
      BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: String(platform.graceSeconds),
      ...pickVariables(own, TUNABLE_VARIABLES),
      LOG_JSON: 'true',
      ...platform.tracing?.env,
      ...(platform.preparedStatements === false && { DATABASE_PREPARED_STATEMENTS: 'off' }),
      REDIS_KEY_PREFIX: spec.redisKeyPrefix,
      DEPLOYMENT_ID: spec.deploymentId,
      LANGGRAPH_API_URL: `${platform.publicUrl.replace(/(?<!\/)\/+$/, '')}/deployments/${spec.deploymentId}`,
      ...(role === 'agent-api' && { PUBLIC_URLS: publicUrls.join(',') }),
      ...(role === 'run-worker' && platform.logRuns && { LOG_RUNS: 'true' }),
      REVISION_ID: spec.revisionId,
      PLATFORM_JWKS_URL: platform.jwksUrl,
      EVENT_BUS: platform.eventBus.kind,
      ...kafkaVariables(platform.eventBus),
      // With Redis, each deployment has an event stream of its own: a user who may append to a shared stream could also
      // read and delete it.
      TOPIC_PREFIX: platform.eventBus.kind === 'redis' ? spec.redisKeyPrefix : platform.eventBus.topicPrefix,
      ...(platform.outboundNetworks && { OUTBOUND_ALLOWED_NETWORKS: platform.outboundNetworks.join(',') }),
      // Limits the heap of the graph host.
      ...(heapMb && { GRAPH_HOST_HEAP_MB: String(heapMb) }),
    },
    secrets: {
      DATABASE_URI: spec.databaseUri,
      REDIS_URI: spec.redisUri,
      ...platform.tracing?.secrets,
      // Only agent-api publishes the outbox; workers just write to it.
      ...(role === 'agent-api' && kafkaSecrets(platform.eventBus)),
      // The process that runs the project reads the project's own `env` and merges it under these.
      PROJECT_ENV: JSON.stringify(spec.secrets),
    },
  };
}

/** Returns the seconds that the revision's workers may go on after SIGTERM, from its own variables or the fallback. */
export function graceSecondsOf(own: Record<string, string>, fallback: number): number {
  const chosen = own.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS;
  const seconds = Number(chosen);
  return chosen === undefined || !Number.isFinite(seconds) || seconds < 0
    ? fallback
    : Math.min(seconds, GRACE_SECONDS_MAX);
}

function kafkaVariables(bus: PlatformSettings['eventBus']): Record<string, string> {
  return {
    ...(bus.kafkaBrokers && { KAFKA_BROKERS: bus.kafkaBrokers }),
    ...(bus.kafkaLoopbackHost && { KAFKA_LOOPBACK_HOST: bus.kafkaLoopbackHost }),
    ...kafkaTlsVariables(bus.readKafkaTls),
  };
}

function kafkaSecrets({ readKafkaLogin }: PlatformSettings['eventBus']): Record<string, string> {
  return readKafkaLogin
    ? { KAFKA_SASL_MECHANISM: readKafkaLogin.mechanism, ...kafkaLoginVariables(readKafkaLogin) }
    : {};
}

function heapMbOf(resources: ResourceSpec, role: 'agent-api' | 'run-worker'): number | null | undefined {
  return role === 'agent-api' ? resources.memory_mb : (resources.queue_memory_mb ?? resources.memory_mb);
}

function pickVariables(from: Record<string, string | undefined>, names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, from[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
