import { buildQueueVariables } from '@runyard/build-queue';
import { HOST_NAME_PATTERN } from '@runyard/contracts';
import { driverKindVariables, secretReferencesVariable } from '@runyard/deployments';
import { objectStorageVariables } from '@runyard/object-storage';
import { logVariables } from '@runyard/revision-logs';
import {
  ConnectionUri,
  eventBusVariables,
  idempotencyVariables,
  serviceVariables,
  statefulServiceVariables,
} from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { storageQuotaVariables } from './storage-quota/storage-quota.ts';

const frontEndUrl = Type.Optional(
  Type.String({
    format: 'uri',
    description: 'The variable of this name of oauth-broker: no deployment gets the host name of that page.',
  }),
);

export const configSchema = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  ...statefulServiceVariables,
  ...idempotencyVariables,
  ORG_ACCESS_URL: Type.String({ format: 'uri', description: 'Base URL of org-access, whose keys sign callers.' }),
  PUBLIC_URL: Type.String({ format: 'uri', description: 'Base URL of the gateway as clients know it.' }),
  DEPLOYMENTS_DOMAIN: Type.Optional(
    Type.String({
      pattern: HOST_NAME_PATTERN,
      description:
        'Where the gateway serves deployments at `<slug>.<domain>`: its variable of this name. PUBLIC_URL must not be below it.',
    }),
  ),
  CUSTOM_DOMAINS: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Domains whose names deployments may take at the gateway by `custom_url`, as `acme.com`: each and all below it. `acme.com=<workspace id>`: those of one workspace alone.',
    }),
  ),

  DATA_PLANE_KEY: Type.String({
    pattern: '^[A-Za-z0-9._~+/=-]{32,}$',
    description: "Key of the platform's own data planes, which run the deployments that no listener has.",
  }),
  REDIS_URI: ConnectionUri(
    'redis',
    'Redis by which control-planes notify each other of changes, and builders of builds.',
  ),
  ...buildQueueVariables,
  DATA_DIR: Type.String({
    minLength: 1,
    description: 'Folder for uploaded sources, built projects and the logs of revisions.',
  }),
  ...objectStorageVariables,
  ...storageQuotaVariables,
  UPLOAD_URL_TTL_SECONDS: Type.Integer({
    default: 3600,
    minimum: 60,
    maximum: 86_400,
    description: 'How long an upload URL is good; archives that no revision uses by then are removed.',
  }),
  REVISIONS_KEPT_PER_DEPLOYMENT: Type.Integer({
    default: 50,
    minimum: 1,
    maximum: 100_000,
    description: 'How many of the newest revisions can be deployed again: uploaded sources of older ones are removed.',
  }),
  REGISTRY_SERVICE_URL: Type.String({
    format: 'uri',
    description: 'Base URL of registry, which has the images of deployments.',
  }),
  REGISTRY_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Where image tools reach the registry, as `https://host:port` without a path: its variable of this name. Default: the root of `PUBLIC_URL`.',
    }),
  ),
  PROJECT_BASE_IMAGE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'The variable of this name of registry: without it projects are refused where they would become images.',
    }),
  ),
  // A caller who may deploy can then run code of this machine as this service's user.
  LOCAL_PROJECTS: Type.Boolean({ default: false, description: 'Whether the source `local_directory` may be used.' }),

  ...driverKindVariables,
  SECRET_REFERENCES_DIR: secretReferencesVariable,
  ...logVariables,
  METRICS_SAMPLE_SECONDS: Type.Integer({
    default: 15,
    minimum: 1,
    maximum: 300,
    description: 'How often deployments are measured: the variable of this name of data planes.',
  }),
  METRICS_RETENTION_HOURS: Type.Integer({
    default: 24,
    minimum: 1,
    maximum: 720,
    description: 'How long what was measured is kept.',
  }),
  BUILD_TIMEOUT_SECONDS: Type.Integer({
    default: 1800,
    minimum: 10,
    maximum: 86_400,
    description: 'How long a build may take, and how long it may wait for the object storage.',
  }),
  BUILDS_MAX_PER_ORGANIZATION: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Builds of one organization at once. With fewer than builders have in all, none can hold all of them. Default: no limit.',
    }),
  ),
  LISTENER_LEASE_SECONDS: Type.Integer({
    default: 60,
    minimum: 3,
    maximum: 3600,
    description: 'How long a remote data plane may be unresponsive before what it runs is `UNKNOWN`.',
  }),
  SWEEP_SECONDS: Type.Integer({ default: 30, minimum: 1, maximum: 3600 }),
  // With a shorter lease, a pause of this process would pass its deployments to another process and stop them here.
  LEASE_SECONDS: Type.Integer({ default: 10, minimum: 3, maximum: 300 }),
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Networks, as `10.0.0.0/8`, that deployments may send requests of their callers to although not public.',
    }),
  ),
  OAUTH_CALLBACK_URL: frontEndUrl,
  OAUTH_FINISHED_URL: frontEndUrl,
});
export type Config = Static<typeof configSchema>;
