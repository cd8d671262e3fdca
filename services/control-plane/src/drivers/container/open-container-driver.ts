import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import type { PullCredentialFactory } from '../../revisions/pull-credential.ts';
import type { PlatformSettings } from '../deployment-variables.ts';
import type { SupervisionOptions } from '../process/launcher.ts';
import { ContainerDriver } from './container-driver.ts';

export const containerVariables = {
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

const Settings = Type.Object({ ...containerVariables, DATA_DIR: Type.String() });

/** Long enough to pull a large image. */
const PULL_TOKEN_LIFETIME_MS = 3_600_000;

export function openContainerDriver(
  config: Static<typeof Settings>,
  options: SupervisionOptions & { platform: PlatformSettings; leaseOwner: string; credentials: PullCredentialFactory },
): ContainerDriver {
  const { credentials, ...rest } = options;
  return new ContainerDriver({
    ...rest,
    command: config.CONTAINER_ENGINE_COMMAND,
    network: config.CONTAINER_NETWORK,
    temporaryFolder: join(config.DATA_DIR, 'logins'),
    credentialFor: credentials(PULL_TOKEN_LIFETIME_MS),
  });
}
