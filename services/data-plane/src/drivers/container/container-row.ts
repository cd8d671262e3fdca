import { join } from 'node:path';
import { containerKind } from '@runyard/deployments';
import Type, { type Static } from 'typebox';
import type { DriverRow } from '../driver-row.ts';
import { ContainerDriver } from './container-driver.ts';

const variables = {
  CONTAINER_ENGINE_COMMAND: Type.String({
    default: 'docker',
    minLength: 1,
    description: 'Command of the container engine that runs images: `docker`, or one that takes the same arguments.',
  }),
  CONTAINER_NETWORK: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Network of the engine that images run on and the gateway is on too; `host` for that of the machine. Default: their ports are published on `DEPLOYMENTS_HOST`.',
    }),
  ),
};

const Settings = Type.Object({ ...variables, DATA_DIR: Type.String() });

/** Long enough to pull a large image. */
const PULL_TOKEN_LIFETIME_MS = 3_600_000;

export const containerRow = {
  ...containerKind,
  variables,
  outlivesProcess: false,
  open: (config, { credentials, ...options }) =>
    new ContainerDriver({
      ...options,
      command: config.CONTAINER_ENGINE_COMMAND,
      network: config.CONTAINER_NETWORK,
      temporaryFolder: join(config.DATA_DIR, 'logins'),
      credentialFor: credentials(PULL_TOKEN_LIFETIME_MS),
    }),
} as const satisfies DriverRow<Static<typeof Settings>>;
