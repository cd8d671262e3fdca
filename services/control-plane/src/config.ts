import { eventBusVariables, idempotencyVariables, ownDataVariables, serviceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { containerVariables } from './drivers/container/open-container-driver.ts';
import { kubernetesVariables } from './drivers/kubernetes/settings.ts';
import { objectStorageVariables } from './object-storage/open-object-storage.ts';
import { registryVariables } from './registry/registry.ts';

export const configSchema = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  ...ownDataVariables,
  ...idempotencyVariables,
  ORG_ACCESS_URL: Type.String({ minLength: 1, description: 'Base URL of org-access, whose keys sign callers.' }),
  PUBLIC_URL: Type.String({ minLength: 1, description: 'Base URL of the gateway as clients know it.' }),

  DATA_POSTGRES_URI: Type.String({
    minLength: 1,
    description: 'Postgres server of the deployments, as a role that may create roles and databases.',
  }),
  DATA_REDIS_URI: Type.String({ minLength: 1, description: 'Redis server of the deployments.' }),
  DATA_DIR: Type.String({
    minLength: 1,
    description: 'Folder for uploaded sources, builds and the logs of revisions.',
  }),
  ...objectStorageVariables,
  UPLOAD_URL_TTL_SECONDS: Type.Integer({
    default: 3600,
    minimum: 60,
    maximum: 86_400,
    description: 'How long an upload URL is good; archives that no revision uses by then are removed.',
  }),
  ...registryVariables,
  ...kubernetesVariables,
  ...containerVariables,

  AGENT_API_COMMAND: Type.String({ minLength: 1, description: 'Entry file of agent-api.' }),
  RUN_WORKER_COMMAND: Type.String({ minLength: 1, description: 'Entry file of run-worker.' }),
  DEPLOYMENTS_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Name or address that deployments listen on and the gateway reaches them at.',
  }),
  // Whoever may deploy can then run code of this machine as this service's user.
  LOCAL_PROJECTS: Type.Boolean({ default: false, description: 'Whether the source `local_directory` may be used.' }),

  SECRET_REFERENCES_DIR: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Folder of the values that `secret_references` name: `<workspace id>/<secret name>/<secret key>`.',
    }),
  ),
  LOG_RETENTION_DAYS: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3650,
    description: 'How long logs of revisions are kept.',
  }),
  LOG_MAX_BYTES_PER_DEPLOYMENT: Type.Integer({
    default: 256 * 1024 * 1024,
    minimum: 1024 * 1024,
    description: 'Bytes of all logs of a deployment; beyond it the oldest files go.',
  }),

  METRICS_SAMPLE_SECONDS: Type.Integer({
    default: 15,
    minimum: 1,
    maximum: 300,
    description: 'How often deployments are measured, and scaled.',
  }),
  METRICS_RETENTION_HOURS: Type.Integer({
    default: 24,
    minimum: 1,
    maximum: 720,
    description: 'How long what was measured is kept.',
  }),
  SCALE_DOWN_SECONDS: Type.Integer({
    default: 1800,
    minimum: 0,
    maximum: 86_400,
    description: 'How long nothing may have called for more processes before there are fewer.',
  }),

  DEPLOY_TIMEOUT_SECONDS: Type.Integer({
    default: 600,
    minimum: 5,
    maximum: 86_400,
    description: 'How long a new revision may take to become healthy.',
  }),
  BUILD_TIMEOUT_SECONDS: Type.Integer({
    default: 1800,
    minimum: 10,
    maximum: 86_400,
    description: 'How long a build may take.',
  }),
  CONCURRENT_BUILDS: Type.Integer({ default: 2, minimum: 1, maximum: 64 }),
  CONCURRENT_STARTS: Type.Integer({ default: 2, minimum: 1, maximum: 64 }),
  SWEEP_SECONDS: Type.Integer({ default: 30, minimum: 1, maximum: 3600 }),
  // Below it, a pause of this process would give its deployments to another one and stop them here.
  LEASE_SECONDS: Type.Integer({ default: 10, minimum: 3, maximum: 300 }),
  BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: Type.Integer({
    default: 180,
    minimum: 0,
    maximum: 3600,
    description: 'Grace of the deployments that set none themselves, and of this service when it stops.',
  }),
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Networks, as `10.0.0.0/8`, that deployments may send requests of their callers to although not public; and this service its requests to OAuth providers.',
    }),
  ),

  OAUTH_CALLBACK_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Page of a front end that OAuth providers send people back to, with `/{provider_id}` after it; it gives code and state to `POST /v2/auth/callback`. Default: this service takes them itself.',
    }),
  ),
  OAUTH_FINISHED_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description: 'Page where people go after `GET /v2/auth/callback`. Default: a small one of this service.',
    }),
  ),
  OAUTH_PROVIDER_TIMEOUT_SECONDS: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 60,
    description: 'How long an OAuth provider may take for an answer.',
  }),
  OAUTH_FLOW_TTL_SECONDS: Type.Integer({
    default: 3600,
    minimum: 10,
    maximum: 604_800,
    description: 'How long a person may take to come back from an OAuth provider.',
  }),
});
export type Config = Static<typeof configSchema>;
