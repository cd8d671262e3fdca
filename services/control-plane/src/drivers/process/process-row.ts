import { ConfigError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { DriverRow } from '../driver-row.ts';
import { ProcessDriver } from './process-driver.ts';
import { openProjectUsers } from './project-users.ts';

const variables = {
  AGENT_API_COMMAND: Type.Optional(Type.String({ minLength: 1, description: 'Entry file of agent-api.' })),
  RUN_WORKER_COMMAND: Type.Optional(Type.String({ minLength: 1, description: 'Entry file of run-worker.' })),
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
  open: async (config, options) => {
    const required = (name: 'AGENT_API_COMMAND' | 'RUN_WORKER_COMMAND') => {
      const entry = config[name];
      if (entry === undefined) throw new ConfigError([`${name} is required with the driver process.`]);
      return entry;
    };
    return new ProcessDriver({
      ...options,
      agentApiEntry: required('AGENT_API_COMMAND'),
      runWorkerEntry: required('RUN_WORKER_COMMAND'),
      users: await openProjectUsers(config.PROJECT_USERS, config.DATA_DIR),
    });
  },
} as const satisfies DriverRow<Static<typeof Settings>>;
