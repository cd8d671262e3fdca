import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ENGINE, engineVariables } from '@runyard/test-kit/fake-engine';
import type { ContainerDriverOptions } from '../../src/drivers/container/container-driver.ts';
import type { DriverTestOptions } from './driver-conformance.ts';

/**
 * Makes options of a container driver whose engine runs containers as processes, and records its calls below `folder`.
 */
export function containerOptions(options: DriverTestOptions): ContainerDriverOptions {
  Object.assign(process.env, engineVariables(options.folder));
  return {
    ...options,
    command: ENGINE,
    network: undefined,
    leaseOwner: randomUUID(),
    temporaryFolder: join(options.folder, 'logins'),
    credentialFor: async () => undefined,
  };
}
