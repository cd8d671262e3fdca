import Type, { type Static } from 'typebox';
import type { DriverRow } from '../driver-row.ts';
import { ProcessDriver } from './process-driver.ts';
import { openProjectUsers } from './project-users.ts';

const variables = {
  AGENT_API_COMMAND: Type.String({ minLength: 1, description: 'Entry file of agent-api.' }),
  RUN_WORKER_COMMAND: Type.String({ minLength: 1, description: 'Entry file of run-worker.' }),
  PROJECT_USERS: Type.Optional(
    Type.String({
      pattern: '^\\d{1,10}-\\d{1,10}$',
      description:
        'Users that the code of projects and of builds runs as where this service is root, two for each deployment, as `100000-999999999`.',
    }),
  ),
};

const Settings = Type.Object({ ...variables, DATA_DIR: Type.String() });

export const processRow = {
  name: 'process',
  computeType: 'process',
  variables,
  accepts: 'project',
  outlivesProcess: false,
  open: async (config, options) =>
    new ProcessDriver({
      ...options,
      users: await openProjectUsers(config.PROJECT_USERS, config.DATA_DIR),
      agentApiEntry: config.AGENT_API_COMMAND,
      runWorkerEntry: config.RUN_WORKER_COMMAND,
    }),
} as const satisfies DriverRow<Static<typeof Settings>>;
