import { projectVariables } from '@runyard/project';
import { deploymentMetricsVariables, deploymentStorageVariables, serviceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

export const configSchema = Type.Object({
  ...serviceVariables,
  ...projectVariables,
  ...deploymentMetricsVariables,
  ...deploymentStorageVariables,
  DATABASE_POOL_SIZE: Type.Integer({ default: 10, minimum: 3, maximum: 500, description: 'Connections at most.' }),
  DEPLOYMENT_ID: Type.String({ default: 'local', minLength: 1, description: 'Named in events.' }),
  REVISION_ID: Type.String({
    default: 'local',
    minLength: 1,
    description: 'Runs are taken while this is the active revision, or none is set.',
  }),

  N_JOBS_PER_WORKER: Type.Integer({ default: 10, minimum: 0, description: 'Runs at a time; 0 takes none.' }),
  BG_JOB_MAX_RETRIES: Type.Integer({ default: 3, minimum: 1, description: 'Failed attempts that end a run.' }),
  BG_JOB_MAX_DRAINS: Type.Integer({
    default: 50,
    minimum: 0,
    description: 'How often workers that stop may hand a run back; then it ends.',
  }),
  RUN_ATTEMPTS_MAX: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'Attempts of a run that end it, whatever ended them.',
  }),
  RUN_KEY_WAIT_SECS: Type.Number({
    default: 86_400,
    minimum: 0,
    description: 'A run ends when no worker has got its encryption key for so long.',
  }),
  BG_JOB_TIMEOUT_SECS: Type.Number({
    default: 86_400,
    exclusiveMinimum: 0,
    description: 'Longest time of an attempt.',
  }),
  BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: Type.Number({
    default: 180,
    minimum: 0,
    maximum: 3600,
    description: 'At a stop runs may end within this time; then they are handed back.',
  }),
  STREAM_MESSAGE_MAX_BYTES: Type.Integer({
    default: 128 * 1024 * 1024,
    minimum: 1024,
    maximum: 500 * 1024 * 1024,
    description: 'Larger messages of a run are left out of its stream.',
  }),
  LOG_RUNS: Type.Boolean({ default: false, description: 'Logs a line for each run that ends.' }),
  // A shorter lease finds dead workers sooner and makes pauses of the machine cost more runs their attempt.
  WORKER_LEASE_SECONDS: Type.Number({
    default: 10,
    minimum: 2,
    description: 'Runs of an unresponsive worker are taken after this.',
  }),
});

export type Config = Static<typeof configSchema>;
