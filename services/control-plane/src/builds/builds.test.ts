import type { RolloutRevision, SecretSets } from '@runyard/deployments';
import { BuildError, ReferencedSecrets } from '@runyard/deployments';
import { ObjectStorageUnavailableError } from '@runyard/object-storage';
import type { RevisionLog } from '@runyard/revision-logs';
import { waitFor } from '@runyard/test-kit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BuildUrls } from './build-urls.ts';
import { Builds, type BuildsOptions } from './builds.ts';

const away = () => new ObjectStorageUnavailableError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
const TRYING = 'The object storage could not be reached (ECONNREFUSED): trying again';

/** Makes builds that end in archives, of a source with this check. */
function buildsOf(options: { check: () => Promise<void>; has?: () => Promise<boolean>; timeoutMs?: number }) {
  const { check, has = async () => false, timeoutMs = 10_000 } = options;
  const said: string[] = [];
  const log = { write: (line: string) => void said.push(line), recent: () => [], close: async () => undefined };
  const describeSource = async () => (url: string) => ({ kind: 'archive' as const, url });
  const builds = new Builds({
    sources: { internal_source: async () => ({ key: 'a', check, describe: describeSource }) },
    secrets: { decrypt: () => [] } as unknown as SecretSets,
    referenced: new ReferencedSecrets({ folder: undefined }),
    openLog: () => log as unknown as RevisionLog,
    timeoutMs,
    images: {} as unknown as BuildsOptions['images'],
    registry: { checkAvailable: async () => undefined },
    archives: { has },
    archiveBytesMax: 1,
    urls: {} as unknown as BuildUrls,
    runsFolders: true,
    outagePauses: { firstMs: 1, longestMs: 2 },
  });
  const revision = {
    id: 'r',
    deploymentId: 'd',
    source: 'internal_source',
    sourceConfig: {},
    sourceRevisionConfig: {},
  };
  const prepare = (signal = new AbortController().signal) =>
    builds.prepare({ ...revision, secretReferences: [] } as unknown as RolloutRevision, signal);
  return { prepare, said };
}

describe('the preparation of a build', () => {
  it('finds a build with the same input, and nothing is built then', async () => {
    const { prepare, said } = buildsOf({ check: async () => undefined, has: async () => true });
    expect(await prepare()).toEqual({ key: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(said).toEqual(['Nothing of it has changed since it was built: that build is taken']);
  });
});

describe('a build that needs the object storage while that is unavailable', () => {
  let isAway: boolean;
  beforeEach(() => {
    isAway = true;
  });
  const check = async () => {
    if (isAway) throw away();
  };

  it('waits, takes no builder, and goes on when the storage is back', async () => {
    const { prepare, said } = buildsOf({ check });
    const waiting = prepare();
    await waitFor(() => said.includes(TRYING));
    isAway = false;
    expect(await waiting).toBeNull();
  });

  it('ends at once when it is interrupted', async () => {
    const interrupted = new AbortController();
    const { prepare, said } = buildsOf({ check });
    const waiting = prepare(interrupted.signal);
    await waitFor(() => said.includes(TRYING));
    interrupted.abort(new Error('interrupted'));
    await expect(waiting).rejects.toThrow('interrupted');
  });

  it('fails with the cause of the outage after the time limit', async () => {
    const { prepare } = buildsOf({ check, timeoutMs: 20 });
    await expect(prepare()).rejects.toThrow(
      new BuildError("The object storage could not be reached (ECONNREFUSED) until the build's time was over."),
    );
  });

  it('fails after the time limit, too, when the storage answers every check and fails in every look', async () => {
    let looks = 0;
    const has = async () => {
      looks += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw away();
    };
    const { prepare } = buildsOf({ check: async () => undefined, has, timeoutMs: 250 });
    await expect(prepare()).rejects.toThrow("until the build's time was over");
    expect([looks > 1, looks < 6]).toEqual([true, true]);
  });
});
