import { type ValidationIssue, validatorOf } from '@runyard/contracts';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { DEFAULT_REQUEST_LIMITS } from './http/admission.ts';
import { readSecrets } from './secrets.ts';

/** Variables every service knows. */
export const serviceVariables = {
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on.' }),
  PORT: Type.Integer({ default: 0, minimum: 0, maximum: 65535, description: 'Port to listen on; 0 takes a free one.' }),
  LOG_LEVEL: Type.Union(
    [
      Type.Literal('error'),
      Type.Literal('warn'),
      Type.Literal('info'),
      Type.Literal('http'),
      Type.Literal('debug'),
      Type.Literal('silent'),
    ],
    { default: 'info', description: '`http` adds a line per request.' },
  ),
  LOG_JSON: Type.Boolean({ default: false, description: 'One JSON object per log line.' }),
  LOG_COLOR: Type.Optional(Type.Boolean({ description: 'Levels in colour; default: on a terminal.' })),
  HTTP_MAX_REQUESTS_IN_FLIGHT: Type.Integer({
    default: DEFAULT_REQUEST_LIMITS.requestsInFlight,
    minimum: 1,
    description: 'Requests answered at once; more are refused with 503.',
  }),
  HTTP_MAX_BODY_BYTES_IN_FLIGHT: Type.Integer({
    default: DEFAULT_REQUEST_LIMITS.bodyBytesInFlight,
    minimum: 1,
    description: 'Bytes of request bodies held at once; requests with more are refused with 503.',
  }),
  DRAIN_WINDOW_SECONDS: Type.Number({
    default: 5,
    minimum: 0,
    maximum: 300,
    description: 'How long a stopping process, not ready any more, still takes requests from those connected to it.',
  }),
};

/** Variables of a service that speaks on the event bus. */
export const eventBusVariables = {
  EVENT_BUS: Type.Union([Type.Literal('kafka'), Type.Literal('redis')], { default: 'kafka' }),
  KAFKA_BROKERS: Type.Optional(Type.String({ description: 'Comma-separated `host:port` list; needed with `kafka`.' })),
  KAFKA_LOOPBACK_HOST: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Where brokers are reached whose address is one of the loopback interface: inside a container, the name of the machine.',
    }),
  ),
  EVENT_BUS_REDIS_URI: Type.Optional(Type.String({ description: 'Needed with `redis`.' })),
  TOPIC_PREFIX: Type.String({ default: '', description: 'Put before every topic and group name.' }),
};

/** Variables of the processes of a deployment, about what they share: its database, and the Redis that carries its streams. */
export const deploymentStorageVariables = {
  DATABASE_URI: Type.String({ minLength: 1, description: 'The Postgres database of the deployment.' }),
  DATABASE_POOL_MIN_SIZE: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 500,
    description: 'Connections that stay open although nobody uses them.',
  }),
  DATABASE_POOL_TIMEOUT_SECONDS: Type.Number({
    default: 10,
    exclusiveMinimum: 0,
    maximum: 3600,
    description: 'How long a caller waits for a connection.',
  }),
  REDIS_URI: Type.String({ minLength: 1, description: 'Redis for event streams and wake-ups.' }),
  REDIS_MAX_CONNECTIONS: Type.Integer({
    default: 2000,
    minimum: 10,
    description: 'Connections to Redis at most. Commands share connections: a process has less than ten.',
  }),
  REDIS_KEY_PREFIX: Type.String({
    default: 'runyard',
    minLength: 1,
    description: 'Before every key of the deployment; the same for all its processes.',
  }),
  RESUMABLE_STREAM_TTL_SECONDS: Type.Integer({ default: 120, minimum: 1, maximum: 86_400 }),
  STREAM_MAX_BYTES_PER_THREAD: Type.Integer({
    default: 256 * 1024 * 1024,
    minimum: 1024 * 1024,
    description: 'Bytes of events kept of one thread; the oldest go when there are more.',
  }),
};

/** Variables of a service whose creations may be asked for again with an idempotency key. */
export const idempotencyVariables = {
  IDEMPOTENCY_KEY_RETENTION_HOURS: Type.Integer({
    default: 24,
    minimum: 1,
    maximum: 8_760,
    description: 'How long a request with the same `Idempotency-Key` is answered as the first one was.',
  }),
};

/** Variables of the processes of a deployment, about their metrics. */
export const deploymentMetricsVariables = {
  METRIC_PREFIX: Type.String({
    default: 'lg_api_',
    pattern: '^[a-zA-Z_:][a-zA-Z0-9_:]*$',
    description: 'What the names of metrics begin with.',
  }),
  LSD_PROM_METRICS_ENABLED: Type.Boolean({ default: false, description: 'Metrics on a port of their own too.' }),
  LSD_PROM_METRICS_PORT: Type.Integer({ default: 9464, minimum: 0, maximum: 65535 }),
  LSD_DEPLOYMENT_TYPE: Type.String({ default: 'self-hosted', description: 'Label `deployment_type` of metrics.' }),
};

/** Gives the metrics of a deployment's process the names and labels by which operators tell deployments apart. */
export function deploymentMetricsOf(config: {
  METRIC_PREFIX: string;
  LSD_DEPLOYMENT_TYPE: string;
  DEPLOYMENT_ID: string;
  REVISION_ID?: string;
}): { prefix: string; labels: Record<string, string> } {
  return {
    prefix: config.METRIC_PREFIX,
    labels: {
      project_id: config.DEPLOYMENT_ID,
      revision_id: config.REVISION_ID ?? '',
      deployment_type: config.LSD_DEPLOYMENT_TYPE,
    },
  };
}

/** Variables of a service of the platform that keeps data, and secrets in it. */
export const ownDataVariables = {
  DATABASE_URI: Type.String({ minLength: 1, description: "The Postgres database of this service's own." }),
  DATABASE_POOL_SIZE: Type.Integer({ default: 8, minimum: 2, maximum: 200 }),
  INTERNAL_TOKEN: Type.String({
    minLength: 16,
    description: 'Secret shared by the services of one platform; opens /internal.',
  }),
  ENCRYPTION_KEY: Type.String({
    minLength: 1,
    description: '32 bytes in base64 or hex; several, newest first, separated by commas.',
  }),
};

/**
 * What the variables of the event bus say, in the form it takes.
 *
 * @throws ConfigError when the address of the chosen bus is missing.
 */
export function eventBusConfig(
  variables: {
    EVENT_BUS: 'kafka' | 'redis';
    KAFKA_BROKERS?: string;
    KAFKA_LOOPBACK_HOST?: string;
    EVENT_BUS_REDIS_URI?: string;
    TOPIC_PREFIX: string;
  },
  clientId: string,
) {
  const { EVENT_BUS, KAFKA_BROKERS, KAFKA_LOOPBACK_HOST: loopbackHost, EVENT_BUS_REDIS_URI, TOPIC_PREFIX } = variables;
  if (EVENT_BUS === 'redis') {
    if (!EVENT_BUS_REDIS_URI) throw new ConfigError(['EVENT_BUS_REDIS_URI is required with EVENT_BUS=redis.']);
    return { kind: 'redis' as const, url: EVENT_BUS_REDIS_URI, prefix: TOPIC_PREFIX };
  }
  if (!KAFKA_BROKERS) throw new ConfigError(['KAFKA_BROKERS is required with EVENT_BUS=kafka.']);
  const brokers = KAFKA_BROKERS.split(',').map((broker) => broker.trim());
  return {
    kind: 'kafka' as const,
    brokers,
    clientId,
    topicPrefix: TOPIC_PREFIX,
    ...(loopbackHost && { loopbackHost }),
  };
}

/** Says in one sentence per variable what is wrong with the configuration. Ends the process with code 78. */
export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

export interface ConfigSources {
  /** Default: the process's environment, with the variables of the secrets file descriptor over it. */
  environment?: Record<string, string | undefined>;
}

/** The process's environment with the variables of the secrets file descriptor over it. */
export function givenEnvironment(): Record<string, string | undefined> {
  return { ...process.env, ...readSecrets(process.env) };
}

/**
 * Reads the variables named by the schema's properties. Text becomes numbers and booleans (`true`, `1`, `yes`, `on`),
 * lists are comma-separated, objects are JSON, an empty variable counts as unset, and defaults are filled in.
 *
 * @throws ConfigError
 */
export function readConfig<T extends TObject>(schema: T, sources: ConfigSources = {}): Static<T> {
  const environment = sources.environment ?? givenEnvironment();
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(schema.properties as Record<string, TSchema>)) {
    const text = environment[name];
    if (text === undefined || text === '') continue;
    try {
      values[name] = parseVariable(variable, text);
    } catch {
      problems.push(`${name} must be valid JSON.`);
    }
  }
  const checked = validatorOf(schema, { coerce: true, allIssues: true })(values);
  if (!checked.ok) problems.push(...checked.issues.map((issue) => sentence(schema, issue)));
  if (problems.length > 0) throw new ConfigError(problems);
  return values as Static<T>;
}

function parseVariable(schema: TSchema, text: string): unknown {
  const type = (schema as { type?: string }).type;
  if (type === 'array')
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  if (type === 'object') return JSON.parse(text);
  if (type === 'boolean') {
    if (/^(true|1|yes|on)$/i.test(text)) return true;
    if (/^(false|0|no|off)$/i.test(text)) return false;
  }
  return text;
}

function sentence(schema: TObject, issue: ValidationIssue): string {
  const [name, ...rest] = issue.path;
  const description = (schema.properties as Record<string, { description?: string }>)[String(name)]?.description;
  const place = rest.length > 0 ? `${name} (at ${rest.join('.')})` : `${name}`;
  return `${place} ${issue.message}.${description && issue.keyword === 'required' ? ` ${description}` : ''}`;
}
