/**
 * The variables that configure agent servers elsewhere, and what each of them means to the processes of a deployment
 * here. Variables that agent-api or run-worker accept under the same name and in the same form are missing: their pages
 * describe them.
 */
export type DeploymentVariable = { name: string } & (
  | {
      /** The variable of Runyard that it sets. */
      target: string;
      /** Converts its value to the form of Runyard's variable. */
      convert?: (value: string) => string;
      /** True when it wins over Runyard's variable when both are set. */
      overrides?: true;
    }
  | {
      /** Why it has no effect. */
      noEffect: string;
      /** Values that ask for the behavior that Runyard has anyway. */
      ignoredValues?: readonly string[];
    }
);

const OFF = ['false', '0', 'no', 'off'];
const LOOPS = 'runs of a Python project share an event loop, and while one blocks it, others start in another process';
const IAM = 'sign-in by a cloud provider is not available; put the password into the address';
const MONGO = 'checkpoints are in Postgres';
const DATADOG = 'nothing is sent to Datadog; /metrics and LOG_JSON are for collectors of any make';
const TRACES = 'the operator of the platform switches its traces on, with OTEL_EXPORTER_OTLP_ENDPOINT';
const V2 = 'event streaming of version 2 is not available';
const A2A = 'A2UI is not available: agent-to-agent messages have text, files and data';

const LOG_LEVELS: Record<string, string> = {
  critical: 'error',
  fatal: 'error',
  warning: 'warn',
  notset: 'debug',
  trace: 'debug',
};
const logLevel = (value: string) => LOG_LEVELS[value.toLowerCase()] ?? value.toLowerCase();
/** Removes the brackets of an IPv6 address as it is written in URLs: `[::1]`. */
const host = (value: string) => value.replace(/^\[(.*)\]$/, '$1');

export const DEPLOYMENT_VARIABLES: readonly DeploymentVariable[] = [
  { name: 'POSTGRES_URI_CUSTOM', target: 'DATABASE_URI', overrides: true },
  { name: 'POSTGRES_URI', target: 'DATABASE_URI' },
  { name: 'REDIS_URI_CUSTOM', target: 'REDIS_URI', overrides: true },
  { name: 'LANGGRAPH_POSTGRES_POOL_MAX_SIZE', target: 'DATABASE_POOL_SIZE' },
  { name: 'LANGGRAPH_CHECKPOINTER_POSTGRES_POOL_MIN_SIZE', target: 'DATABASE_POOL_MIN_SIZE' },
  { name: 'LANGGRAPH_CHECKPOINTER_POSTGRES_POOL_TIMEOUT_SECONDS', target: 'DATABASE_POOL_TIMEOUT_SECONDS' },
  { name: 'LANGGRAPH_SERVER_HOST', target: 'HOST', convert: host },
  { name: 'HOST', target: 'HOST', convert: host, overrides: true },
  { name: 'LANGGRAPH_SERVER_PORT', target: 'PORT' },
  { name: 'LOG_LEVEL', target: 'LOG_LEVEL', convert: logLevel, overrides: true },

  { name: 'REDIS_CLUSTER', noEffect: 'a single Redis server is used', ignoredValues: OFF },
  { name: 'BG_JOB_ISOLATED_LOOPS', noEffect: LOOPS, ignoredValues: OFF },
  {
    name: 'LANGGRAPH_AUTH_TYPE',
    noEffect: 'callers are known by keys of the platform; RUNYARD_AUTH=none lets everybody in',
  },
  { name: 'LS_DEFAULT_CHECKPOINTER_BACKEND', noEffect: MONGO, ignoredValues: ['default', 'postgres'] },
  { name: 'LS_MONGODB_URI', noEffect: MONGO },
  { name: 'MONGODB_URI', noEffect: MONGO },
  { name: 'LS_CHECKPOINT_DELETE', noEffect: 'checkpoints are deleted at once, with their thread' },
  { name: 'LS_RATE_LIMITS', noEffect: 'the gateway limits rates, per key, workspace and address' },
  {
    name: 'EXPOSE_INTERNAL_METRICS_PROMETHEUS',
    noEffect: '/metrics always has them',
    ignoredValues: ['true', '1', 'yes', 'on'],
  },
  { name: 'METRIC_MAX_EMITTING_TIER', noEffect: '/metrics always has all', ignoredValues: ['2'] },
  { name: 'FF_V2_EVENT_STREAMING', noEffect: V2, ignoredValues: OFF },
  { name: 'LSD_PROTOCOL_V2_BUFFER_SIZE', noEffect: V2 },
  { name: 'A2A_A2UI_ENABLED', noEffect: A2A, ignoredValues: OFF },
  { name: 'A2A_A2UI_TOOL_CALL_RESULTS', noEffect: A2A, ignoredValues: OFF },
  { name: 'A2A_ALLOWED_TOOL_CALL_RESULTS', noEffect: A2A },
  { name: 'LS_APM_OTEL_ENABLED', noEffect: TRACES, ignoredValues: OFF },
  {
    name: 'SELF_HOSTED_LOGS_ENABLED',
    noEffect: 'logs go to the standard output, as JSON with LOG_JSON',
    ignoredValues: OFF,
  },
  { name: 'SELF_HOSTED_LOGS_ENDPOINT', noEffect: 'logs go to the standard output, as JSON with LOG_JSON' },
  { name: 'DD_API_KEY', noEffect: DATADOG },
  { name: 'DD_LOGS_ENABLED', noEffect: DATADOG, ignoredValues: OFF },
  { name: 'LSD_DD_API_KEY', noEffect: DATADOG },
  { name: 'LSD_DD_ENDPOINT', noEffect: DATADOG },
  { name: 'AGENT_POSTGRES_IAM_AUTH_PROVIDER', noEffect: IAM },
  { name: 'AGENT_REDIS_IAM_AUTH_PROVIDER', noEffect: IAM },
];

/**
 * Settings of agent-api and run-worker that a deployment may choose itself, in addition to the variables of its own
 * code.
 */
export const TUNABLE_VARIABLES: readonly string[] = [
  'N_JOBS_PER_WORKER',
  'BG_JOB_MAX_RETRIES',
  'BG_JOB_MAX_DRAINS',
  'BG_JOB_TIMEOUT_SECS',
  'RUN_KEY_WAIT_SECS',
  'BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS',
  'RESUMABLE_STREAM_TTL_SECONDS',
  'STREAM_MESSAGE_MAX_BYTES',
  'STREAM_MAX_BYTES_PER_THREAD',
  'HTTP_MAX_REQUEST_BODY_BYTES',
  'HTTP_MAX_REQUESTS_IN_FLIGHT',
  'HTTP_MAX_BODY_BYTES_IN_FLIGHT',
  'HTTP_MAX_OPEN_STREAMS',
  'HTTP_MAX_RESULT_BYTES_IN_FLIGHT',
  'FEEDBACK_URL_TTL_SECONDS',
  'THREAD_WAITING_RUNS_MAX',
  'LANGGRAPH_THREAD_HISTORY_MAX_STATE_BYTES',
  'WEBHOOKS_DISABLED',
  'WEBHOOK_CONCURRENCY',
  'WEBHOOK_LOG_RETENTION_HOURS',
  'IDEMPOTENCY_KEY_RETENTION_HOURS',
  'CORS_ALLOW_ORIGINS',
  'MOUNT_PREFIX',
  'UI_BASE_URL',
  'REDIS_MAX_CONNECTIONS',
  'METRIC_PREFIX',
  'LOG_LEVEL',
  'LANGGRAPH_POSTGRES_POOL_MAX_SIZE',
  'LANGGRAPH_CHECKPOINTER_POSTGRES_POOL_MIN_SIZE',
  'LANGGRAPH_CHECKPOINTER_POSTGRES_POOL_TIMEOUT_SECONDS',
  // These are accepted to warn that they have no effect.
  ...DEPLOYMENT_VARIABLES.flatMap((variable) => ('noEffect' in variable ? [variable.name] : [])),
];

type Environment = Record<string, string | undefined>;

/** Translates an environment to Runyard's names and forms, with one sentence for each variable that has no effect. */
export function translateVariables(environment: Environment): { environment: Environment; warnings: string[] } {
  const translated = { ...environment };
  const warnings: string[] = [];
  for (const variable of DEPLOYMENT_VARIABLES) {
    const value = environment[variable.name];
    if (value === undefined || value.trim() === '') continue;
    if ('noEffect' in variable) {
      if (variable.ignoredValues?.includes(value.toLowerCase())) continue;
      warnings.push(`The variable ${variable.name} has no effect on the platform: ${variable.noEffect}.`);
    } else if (variable.overrides || !translated[variable.target]) {
      translated[variable.target] = variable.convert ? variable.convert(value) : value;
    }
  }
  return { environment: translated, warnings };
}
