import { type ResourceSpec, TUNABLE_VARIABLES } from '@runyard/contracts';
import type { RevisionSpec } from './driver.ts';

/** What every part of a deployment is told, whichever revision it runs. */
export interface PlatformSettings {
  /** Name or address the processes listen on. */
  host: string;
  /** Where people reach the platform; deployments are below it. */
  publicUrl: string;
  /** Where principal tokens are checked. */
  jwksUrl: string;
  graceSeconds: number;
  /** Networks that deployments may send requests of their callers to, although they are not public. */
  outboundNetworks?: string[] | undefined;
  logLevel: string;
  eventBus: {
    kind: string;
    kafkaBrokers?: string;
    /** Where brokers are reached whose address is a loopback one; undefined: there. */
    kafkaLoopbackHost?: string;
    topicPrefix: string;
  };
}

export interface PartVariables {
  /** None of them is a secret. */
  env: Record<string, string>;
  secrets: Record<string, string>;
}

const GRACE_SECONDS_MAX = 3600;

/**
 * What an agent-api or run-worker of the revision is told, wherever it runs.
 *
 * @param own variables of the deployment, those its project asks for included; some of them tune the platform's part
 */
export function partVariables(
  spec: RevisionSpec,
  own: Record<string, string>,
  platform: PlatformSettings,
  role: 'agent-api' | 'run-worker',
): PartVariables {
  const heapMb = heapMbOf(spec.resources, role);
  return {
    env: {
      LOG_LEVEL: platform.logLevel,
      BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: String(platform.graceSeconds),
      ...picked(own, TUNABLE_VARIABLES),
      LOG_JSON: 'true',
      REDIS_KEY_PREFIX: spec.redisKeyPrefix,
      DEPLOYMENT_ID: spec.deploymentId,
      LANGGRAPH_API_URL: `${platform.publicUrl.replace(/\/+$/, '')}/deployments/${spec.deploymentId}`,
      REVISION_ID: spec.revisionId,
      PLATFORM_JWKS_URL: platform.jwksUrl,
      EVENT_BUS: platform.eventBus.kind,
      ...(platform.eventBus.kafkaBrokers && { KAFKA_BROKERS: platform.eventBus.kafkaBrokers }),
      ...(platform.eventBus.kafkaLoopbackHost && { KAFKA_LOOPBACK_HOST: platform.eventBus.kafkaLoopbackHost }),
      // Over Redis its events go into a stream of its own: nobody can be let append to a shared one without reading and deleting it.
      TOPIC_PREFIX: platform.eventBus.kind === 'redis' ? spec.redisKeyPrefix : platform.eventBus.topicPrefix,
      ...(platform.outboundNetworks && { OUTBOUND_ALLOWED_NETWORKS: platform.outboundNetworks.join(',') }),
      // Of the process that runs the project's code.
      ...(heapMb && { GRAPH_HOST_HEAP_MB: String(heapMb) }),
    },
    secrets: {
      DATABASE_URI: spec.databaseUri,
      REDIS_URI: spec.redisUri,
      // The project's own `env` is read by who runs the project, under these.
      PROJECT_ENV: JSON.stringify(spec.secrets),
    },
  };
}

/** How long the workers of the revision may go on after they were asked to end, by its variables, the project's own among them. */
export function graceSecondsOf(own: Record<string, string>, fallback: number): number {
  const chosen = own.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS;
  const seconds = Number(chosen);
  return chosen === undefined || !Number.isFinite(seconds) || seconds < 0
    ? fallback
    : Math.min(seconds, GRACE_SECONDS_MAX);
}

function heapMbOf(resources: ResourceSpec, role: 'agent-api' | 'run-worker'): number | null | undefined {
  return role === 'agent-api' ? resources.memory_mb : (resources.queue_memory_mb ?? resources.memory_mb);
}

function picked(from: Record<string, string | undefined>, names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, from[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
