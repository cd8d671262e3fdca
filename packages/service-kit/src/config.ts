import { type ValidationIssue, validatorOf } from '@runyard/contracts';
import { tracingVariables } from '@runyard/tracing';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { DEFAULT_REQUEST_LIMITS } from './admission.ts';
import { ConfigError } from './config-error.ts';
import { ConnectionUri, connectionUriProblem } from './connection-uri.ts';
import { readSecrets } from './secrets.ts';

/** Variables of every service. */
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
  ...tracingVariables,
};

/** Says whether statements may be prepared on the server. */
export const preparedStatementsVariable = Type.Boolean({
  default: true,
  description: '`off`: statements are not prepared on the server, for transaction poolers that keep none.',
});

/** Storage variables of a deployment's processes: its database, and the Redis of its streams. */
export const deploymentStorageVariables = {
  DATABASE_URI: ConnectionUri('postgres', 'The Postgres database of the deployment.'),
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
  DATABASE_PREPARED_STATEMENTS: preparedStatementsVariable,
  REDIS_URI: ConnectionUri('redis', 'Redis for event streams and wake-ups.'),
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

/** Variables of a service that accepts idempotency keys. */
export const idempotencyVariables = {
  IDEMPOTENCY_KEY_RETENTION_HOURS: Type.Integer({
    default: 24,
    minimum: 1,
    maximum: 8_760,
    description: 'How long a request with the same `Idempotency-Key` is answered as the first one was.',
  }),
};

/** Metric variables of a deployment's processes. */
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

/** Sets the names and labels by which operators distinguish the metrics of deployments. */
export function deploymentMetricIdentity(config: {
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

/**
 * The secret that the services of one platform share. Tokens for images are signed with a key of it, and whoever holds one
 * can test guesses by it: a secret that somebody made up would be found.
 */
export const internalTokenVariable = Type.String({
  minLength: 32,
  description: 'Secret shared by the services of one platform; `openssl rand -hex 32` makes one.',
});

/** The address of the console, for the services that lead browsers there. */
export const consoleUrlVariable = Type.String({
  pattern: '^https?://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(:\\d{1,5})?/?$',
  description:
    'The address of the console as browsers know it, an origin without a path, as `https://console.example.com`.',
});

/** Variables of a platform service that stores data and secrets. */
export const statefulServiceVariables = {
  DATABASE_URI: ConnectionUri('postgres', "The Postgres database of this service's own."),
  DATABASE_POOL_SIZE: Type.Integer({ default: 8, minimum: 2, maximum: 200 }),
  DATABASE_PREPARED_STATEMENTS: preparedStatementsVariable,
  INTERNAL_TOKEN: internalTokenVariable,
  ENCRYPTION_KEY: Type.String({
    minLength: 1,
    description: '32 bytes in base64 or hex; several, newest first, separated by commas.',
  }),
};

export type Environment = Record<string, string | undefined>;

export interface ConfigSources {
  /** Default: the process's environment, overridden by the variables of the secrets file descriptor. */
  environment?: Environment;
}

/** Returns the process's environment, overridden by the variables of the secrets file descriptor. */
export function readEnvironment(): Environment {
  return { ...process.env, ...readSecrets(process.env) };
}

/**
 * Returns the variables of one of several services in this process: the process's environment, overridden by the object
 * under the service's name in what the secrets file descriptor carries. None sees the secrets of another.
 */
export function readEnvironmentOf(service: string): Environment {
  const text = readSecrets(process.env)[service];
  if (text === undefined) throw new Error(`RUNYARD_SECRETS_FD must carry its variables under "${service}".`);
  return { ...process.env, ...(JSON.parse(text) as Environment) };
}

/**
 * Sets the variables of the process itself, from the object under `process` in what the secrets file descriptor carries:
 * one that is started before anybody knows them gets them there.
 */
export function setProcessVariables(): void {
  const { process: text } = readSecrets(process.env);
  if (text !== undefined) Object.assign(process.env, JSON.parse(text));
}

/**
 * Reads the variables named by the schema's properties. Text becomes numbers and booleans (`true`, `1`, `yes`, `on`),
 * lists are comma-separated, objects are JSON, an empty variable counts as unset, and defaults are filled in.
 *
 * @throws ConfigError
 */
export function readConfig<T extends TObject>(schema: T, sources: ConfigSources = {}): Static<T> {
  const environment = sources.environment ?? readEnvironment();
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(schema.properties as Record<string, TSchema>)) {
    const text = environment[name];
    if (text === undefined || text === '') continue;
    const problem = connectionUriProblem(variable, text);
    if (problem !== undefined) problems.push(`${name} ${problem}.`);
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

/** Faults of which the description of a variable says what would be right. */
const EXPLAINED = new Set(['required', 'minLength']);

function sentence(schema: TObject, issue: ValidationIssue): string {
  const [name, ...rest] = issue.path;
  const description = (schema.properties as Record<string, { description?: string }>)[String(name)]?.description;
  const place = rest.length > 0 ? `${name} (at ${rest.join('.')})` : `${name}`;
  return `${place} ${issue.message}.${description && EXPLAINED.has(issue.keyword) ? ` ${description}` : ''}`;
}
