import { processKind, projectUsersVariable } from '@runyard/deployments';
import { ConfigError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { DriverRow } from '../driver-row.ts';
import { ProcessDriver } from './process-driver.ts';
import { openProjectUsers } from './project-users.ts';

const variables = {
  AGENT_API_COMMAND: Type.Optional(Type.String({ minLength: 1, description: 'Entry file of agent-api.' })),
  RUN_WORKER_COMMAND: Type.Optional(Type.String({ minLength: 1, description: 'Entry file of run-worker.' })),
  AGENT_SERVICES_COMMAND: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Entry file of both in one process, which the first of each then share.',
    }),
  ),
  AGENT_SERVICES_STANDBY: Type.Boolean({
    default: false,
    description: 'Whether such a process has its code loaded from the start on, for the deployment that comes first.',
  }),
  PROJECT_USERS: projectUsersVariable,
};

const Settings = Type.Object({ ...variables, DATA_DIR: Type.String() });

export const processRow = {
  ...processKind,
  variables,
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
      togetherEntry: config.AGENT_SERVICES_COMMAND,
      standsBy: config.AGENT_SERVICES_STANDBY,
      users: await openProjectUsers(config.PROJECT_USERS, config.DATA_DIR),
    });
  },
} as const satisfies DriverRow<Static<typeof Settings>>;
