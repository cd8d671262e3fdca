import { secretReferencesVariable } from '@runyard/deployments';
import { logVariables } from '@runyard/revision-logs';
import { ConnectionUri, eventBusVariables, preparedStatementsVariable, serviceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { driverVariables } from '../drivers/drivers.ts';

/** Variables of running deployments. */
export const dataPlaneVariables = {
  DATA_POSTGRES_URI: ConnectionUri(
    'postgres',
    'Postgres server of the deployments, as a role that may create roles and databases.',
  ),
  DATA_POSTGRES_PREPARED_STATEMENTS: preparedStatementsVariable,
  DATA_REDIS_URI: ConnectionUri(
    'redis',
    'Redis server of the deployments, as an account that may make users (`ACL SETUSER`).',
  ),
  DATA_REDIS_USERS: Type.Union([Type.Literal('own'), Type.Literal('shared')], {
    default: 'own',
    description:
      '`own`: each deployment has a Redis user that reaches its keys alone. `shared`: all have the account of `DATA_REDIS_URI`.',
  }),
  DEPLOYMENT_KAFKA_SASL_USERNAME: Type.Optional(
    Type.String({
      description:
        'User of the deployments at the brokers, who may publish to `runyard.runs` alone; needed with `KAFKA_SASL_USERNAME`.',
    }),
  ),
  DEPLOYMENT_KAFKA_SASL_PASSWORD: Type.Optional(
    Type.String({ description: 'Needed with `DEPLOYMENT_KAFKA_SASL_USERNAME`.' }),
  ),
  DEPLOYMENTS_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Name or address that deployments listen on and the gateway reaches them at.',
  }),
  ...driverVariables,
  SECRET_REFERENCES_DIR: secretReferencesVariable,
  ...logVariables,
  METRICS_SAMPLE_SECONDS: Type.Integer({
    default: 15,
    minimum: 1,
    maximum: 300,
    description: 'How often deployments are measured, and scaled.',
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
  CONCURRENT_STARTS: Type.Integer({ default: 2, minimum: 1, maximum: 64 }),
  BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: Type.Integer({
    default: 180,
    minimum: 0,
    maximum: 3600,
    description: 'Grace of the deployments that set none themselves, and of this service when it stops.',
  }),
  LOG_RUNS: Type.Boolean({ default: false, description: 'Deployments log a line for each run that ends.' }),
  STOP_GRACE_SECONDS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3600,
      description: 'A shorter grace for the deployments that end with this service, as on a laptop.',
    }),
  ),
};

/** The settings that running deployments needs. */
const Settings = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  ...dataPlaneVariables,
  DATA_DIR: Type.String(),
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(Type.Array(Type.String())),
});
export type DataPlaneSettings = Static<typeof Settings>;
