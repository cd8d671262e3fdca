import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RevisionLog } from '../logs/revision-log.ts';
import type { RolloutDeployment, RolloutRevision } from '../reconciler/rollout-store.ts';
import { Slots } from '../reconciler/slots.ts';
import { ReferencedSecrets } from '../secrets/secret-references.ts';
import type { SecretSets } from '../secrets/secret-set.ts';
import { BuildFailure } from './build-failure.ts';
import { Builds } from './builds.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'runyard-builds-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

/** A build whose source is waited for until its time is over, and then fails like this. */
async function outcome(
  failure: (signal: AbortSignal) => unknown,
  { interruptedBy, minFreeBytes = 0 }: { interruptedBy?: Error; minFreeBytes?: number } = {},
) {
  const outer = new AbortController();
  const fetch = (_folder: string, { signal }: { signal: AbortSignal }) =>
    new Promise<void>((_resolve, reject) => {
      const fail = () => reject(failure(signal));
      if (interruptedBy) outer.abort(interruptedBy);
      if (signal.aborted) fail();
      else signal.addEventListener('abort', fail);
    });
  const log = { write: () => undefined, recent: () => [], close: async () => undefined };
  const builds = new Builds({
    dataDir,
    sources: { internal_source: async () => ({ key: 'a', fetch }) },
    secrets: { open: () => [] } as unknown as SecretSets,
    referenced: new ReferencedSecrets(undefined),
    openLog: () => log as unknown as RevisionLog,
    slots: new Slots(1),
    timeoutMs: 20,
    minFreeBytes,
    user: null,
  });
  const deployment = { id: 'd', workspaceId: 'w' } as RolloutDeployment;
  const revision = {
    id: 'r',
    deploymentId: 'd',
    source: 'internal_source',
    sourceConfig: {},
    sourceRevisionConfig: {},
  };
  const options = { signal: outer.signal, onBegin: async () => undefined };
  return builds
    .build(deployment, { ...revision, secretReferences: [] } as unknown as RolloutRevision, options)
    .catch((error: unknown) => error as Error);
}

it('a build whose time is over fails with what it waited for, where it says so', async () => {
  expect(await outcome((signal) => signal.reason)).toMatchObject({ message: 'The build was not done within 0.02 s.' });
  const away = await outcome(() => new BuildFailure('The object storage could not be reached'));
  expect(away).toBeInstanceOf(BuildFailure);
  expect(away).toMatchObject({ message: 'The object storage could not be reached.' });
});

it('a build that is interrupted has not failed', async () => {
  const interrupted = new Error('interrupted');
  const failure = () => new BuildFailure('The object storage is away');
  expect(await outcome(failure, { interruptedBy: interrupted })).toBe(interrupted);
});

it('nothing is built on a disk that is nearly full', async () => {
  const error = await outcome((signal) => signal.reason, { minFreeBytes: Number.MAX_SAFE_INTEGER });
  expect(error).toBeInstanceOf(BuildFailure);
  expect(error).toMatchObject({ message: expect.stringContaining('The disk of the platform is nearly full') });
});
