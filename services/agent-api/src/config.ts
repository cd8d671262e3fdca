import { projectVariables } from '@runyard/project';
import {
  deploymentMetricsVariables,
  deploymentStorageVariables,
  eventBusVariables,
  idempotencyVariables,
  serviceVariables,
} from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

export const configSchema = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  ...projectVariables,
  ...deploymentMetricsVariables,
  ...deploymentStorageVariables,
  ...idempotencyVariables,
  DATABASE_POOL_SIZE: Type.Integer({ default: 10, minimum: 4, maximum: 500 }),
  DATABASE_READ_TIMEOUT_SECONDS: Type.Number({
    default: 30,
    exclusiveMinimum: 0,
    maximum: 3600,
    description: 'How long a statement of a search, count, history or copy may take.',
  }),

  DEPLOYMENT_ID: Type.String({ default: 'local', minLength: 1 }),
  REVISION_ID: Type.Optional(Type.String({ description: 'The revision of the deployment that is served.' })),
  LANGSMITH_TENANT_ID: Type.Optional(Type.String({ description: 'The workspace of the deployment, told by `/info`.' })),

  PLATFORM_JWKS_URL: Type.Optional(
    Type.String({ description: 'Keys that sign the callers the gateway lets through.' }),
  ),
  // Callers are not authenticated: this is only for a server that no one else can reach.
  RUNYARD_AUTH: Type.Optional(Type.Literal('none', { description: '`none` lets everybody in.' })),

  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Networks, comma-separated as `10.0.0.0/8`, that requests made for callers may reach although not public.',
    }),
  ),
  READ_SCHEMAS_AHEAD: Type.Boolean({
    default: false,
    description: 'Schemas that are not stored with the project are read in the background, before they are asked for.',
  }),
  WEBHOOKS_DISABLED: Type.Boolean({ default: false, description: 'Runs send no webhooks.' }),
  WEBHOOK_SIGNING_SECRETS: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Standard Webhooks secrets (`whsec_…`), newest first, comma-separated; webhooks are signed with each.',
    }),
  ),
  WEBHOOK_CONCURRENCY: Type.Integer({ default: 20, minimum: 1, maximum: 500 }),
  WEBHOOK_LOG_RETENTION_HOURS: Type.Integer({ default: 168, minimum: 1, maximum: 87_600 }),

  CORS_ALLOW_ORIGINS: Type.Array(Type.String(), {
    default: ['*'],
    description: 'Origins, comma-separated, whose pages may call; `http.cors` of the project wins.',
  }),
  ADVERTISED_URL: Type.Optional(
    Type.String({ format: 'uri', description: 'Where the workers of the deployment reach this process.' }),
  ),
  PUBLIC_URLS: Type.Array(Type.String(), {
    default: [],
    description:
      'URLs, comma-separated, by which clients reach the deployment: cards of A2A are signed for these alone.',
  }),
  MOUNT_PREFIX: Type.Optional(
    Type.String({
      pattern: '^/.*[^/]$',
      description: 'Path that everything is served under; `http.mount_prefix` of the project wins.',
    }),
  ),
  UI_BASE_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description: 'Address under which pages load the files of components, if not the one they were asked for at.',
    }),
  ),
  HTTP_MAX_REQUEST_BODY_BYTES: Type.Integer({ default: 314_572_800, minimum: 1024 }),
  HTTP_MAX_OPEN_STREAMS: Type.Integer({
    default: 5000,
    minimum: 1,
    description: 'Clients that follow runs or wait for them at once; more are refused with 503.',
  }),
  HTTP_MAX_RESULT_BYTES_IN_FLIGHT: Type.Integer({
    default: 268_435_456,
    minimum: 1_048_576,
    description: 'Bytes of large results that answers hold at once; who joins a run beyond them is refused with 503.',
  }),
  BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: Type.Number({
    default: 180,
    minimum: 0,
    maximum: 3600,
    description: 'At a stop answers under way may be completed within this time, unless they go on elsewhere.',
  }),
  THREAD_WAITING_RUNS_MAX: Type.Integer({
    default: 5000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Runs that may wait on one thread; more are refused with 429, and a cron skips its slot.',
  }),
  LANGGRAPH_THREAD_HISTORY_MAX_STATE_BYTES: Type.Integer({
    default: 0,
    minimum: 0,
    description: 'Bytes of JSON after which a history has no older state; the newest one is always in it. 0: no limit.',
  }),
  FEEDBACK_URL_TTL_SECONDS: Type.Integer({ default: 10_800, minimum: 1, maximum: 31_536_000 }),
});
export type Config = Static<typeof configSchema>;
