import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeFakeAgentImage } from '@runyard/test-kit/fake-agent-image';
import { afterAll, beforeAll } from 'vitest';
import { ContainerDriver } from '../src/drivers/container/container-driver.ts';
import { itConforms } from './support/driver-conformance.ts';

const IMAGE = 'runyard-test/fake-agent:test';
/** The engine has the image from here, so the driver must not pull it: as while its registry cannot be reached. */
const credential = { host: 'registry.example.com', username: 'nobody', password: '', isEarlier: true };
const runDocker = (...args: string[]) => promisify(execFile)('docker', args);

let driver: ContainerDriver | undefined;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runyard-fake-agent-'));
  await writeFakeAgentImage(folder);
  await runDocker('build', '--tag', IMAGE, folder);
  await rm(folder, { recursive: true });
});
afterAll(async () => {
  driver?.close();
  await runDocker('image', 'rm', IMAGE);
});

itConforms('container', async (options) => {
  driver = new ContainerDriver({
    ...options,
    command: 'docker',
    network: undefined,
    leaseOwner: randomUUID(),
    temporaryFolder: join(options.folder, 'logins'),
    credentialFor: async () => credential,
  });
  return { driver, artifact: { kind: 'image', imageUri: IMAGE } };
});
