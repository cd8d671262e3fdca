import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RolloutDeployment, RolloutRevision, SecretSets } from '@runyard/deployments';
import { BuildError, ReferencedSecrets, Semaphore } from '@runyard/deployments';
import { ObjectStorageUnavailableError } from '@runyard/object-storage';
import type { RevisionLog } from '@runyard/revision-logs';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RevisionImages } from '../project-images/revision-images.ts';
import type { BuildSource } from './build-source.ts';
import { Builds } from './builds.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'runyard-builds-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

/** No build here makes an image. */
const noImages = {} as unknown as RevisionImages;

type Source = Omit<BuildSource, 'key'>;

/** Makes builds of two sources with a single slot. */
function buildsOf(
  sources: { internal_source: Source; github?: Source },
  options: { timeoutMs?: number; minFreeBytes?: number } = {},
) {
  const said: string[] = [];
  const log = { write: (line: string) => void said.push(line), recent: () => [], close: async () => undefined };
  const opened = Object.entries(sources).map(([name, source]) => [name, async () => ({ key: 'a', ...source })]);
  const builds = new Builds({
    dataDir,
    sources: Object.fromEntries(opened),
    secrets: { decrypt: () => [] } as unknown as SecretSets,
    referenced: new ReferencedSecrets({ folder: undefined }),
    openLog: () => log as unknown as RevisionLog,
    semaphore: new Semaphore(1),
    timeoutMs: 10_000,
    minFreeBytes: 0,
    users: null,
    pythons: [],
    images: noImages,
    runsFolders: true,
    outagePauses: { firstMs: 1, longestMs: 2 },
    ...options,
  });
  /** Returns the result of a build, and whether it began. */
  const build = async (source: keyof typeof sources, signal = new AbortController().signal) => {
    const deployment = { id: source, workspaceId: 'w' } as RolloutDeployment;
    const revision = { id: 'r', deploymentId: source, source, sourceConfig: {}, sourceRevisionConfig: {} };
    let isBegun = false;
    const onBegin = async () => {
      isBegun = true;
    };
    const error = await builds
      .build(deployment, { ...revision, secretReferences: [] } as unknown as RolloutRevision, { signal, onBegin })
      .then(
        () => undefined,
        (reason: unknown) => reason as Error,
      );
    return { error, isBegun };
  };
  return { build, said };
}

/** Returns the result of a build that waits for its source until its time has passed, and then fails like this. */
async function outcome(
  failure: (signal: AbortSignal) => unknown,
  { interruptedBy, minFreeBytes = 0 }: { interruptedBy?: Error; minFreeBytes?: number } = {},
) {
  const outer = new AbortController();
  const fetch: Source['fetch'] = (_folder, { signal }) =>
    new Promise<void>((_resolve, reject) => {
      const fail = () => reject(failure(signal));
      if (interruptedBy) outer.abort(interruptedBy);
      if (signal.aborted) fail();
      else signal.addEventListener('abort', fail);
    });
  const { build } = buildsOf({ internal_source: { fetch } }, { timeoutMs: 20, minFreeBytes });
  return (await build('internal_source', outer.signal)).error;
}

it('a build that times out fails with the cause it waited for, where there is one', async () => {
  expect(await outcome((signal) => signal.reason)).toMatchObject({ message: 'The build was not done within 0.02 s.' });
  const away = await outcome(() => new BuildError('The object storage could not be reached'));
  expect(away).toBeInstanceOf(BuildError);
  expect(away).toMatchObject({ message: 'The object storage could not be reached.' });
});

it('a build that is interrupted does not count as failed', async () => {
  const interrupted = new Error('interrupted');
  const failure = () => new BuildError('The object storage is away');
  expect(await outcome(failure, { interruptedBy: interrupted })).toBe(interrupted);
});

it('nothing is built on a disk that is nearly full', async () => {
  const error = await outcome((signal) => signal.reason, { minFreeBytes: Number.MAX_SAFE_INTEGER });
  expect(error).toBeInstanceOf(BuildError);
  expect(error).toMatchObject({ message: expect.stringContaining('The disk of the platform is nearly full') });
});

describe('a build that needs the object storage while that is unavailable', () => {
  const away = () => new ObjectStorageUnavailableError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const TRYING = 'The object storage could not be reached (ECONNREFUSED): trying again';
  /** Fails with an error that shows that the build had its turn. */
  const turn = async () => Promise.reject(new BuildError('It was its turn'));
  let isAway: boolean;
  beforeEach(() => {
    isAway = true;
  });
  const check = async () => {
    if (isAway) throw away();
  };

  it('waits before it takes a slot, and other builds go on', async () => {
    const { build, said } = buildsOf({ internal_source: { check, fetch: turn }, github: { fetch: turn } });
    const waiting = build('internal_source');
    await waitFor(() => said.includes(TRYING));
    expect((await build('github')).error).toMatchObject({ message: 'It was its turn.' });
    isAway = false;
    expect((await waiting).error).toMatchObject({ message: 'It was its turn.' });
  });

  it('releases its slot when the storage fails during the build, and starts again from the beginning', async () => {
    isAway = false;
    let fetched = 0;
    const fetch = async () => {
      fetched += 1;
      if (fetched > 1) return turn();
      isAway = true;
      throw away();
    };
    const { build, said } = buildsOf({ internal_source: { check, fetch }, github: { fetch: turn } });
    const waiting = build('internal_source');
    await waitFor(() => said.filter((line) => line === TRYING).length > 1);
    expect((await build('github')).error).toMatchObject({ message: 'It was its turn.' });
    isAway = false;
    expect((await waiting).error).toMatchObject({ message: 'It was its turn.' });
    expect(fetched).toBe(2);
  });

  it('ends at once when it is interrupted, and does not count as begun', async () => {
    const interrupted = new AbortController();
    const { build, said } = buildsOf({ internal_source: { check, fetch: turn } });
    const waiting = build('internal_source', interrupted.signal);
    await waitFor(() => said.includes(TRYING));
    const reason = new Error('interrupted');
    interrupted.abort(reason);
    expect(await waiting).toEqual({ error: reason, isBegun: false });
  });

  it('fails with the cause of the outage after the time limit, and counts as begun', async () => {
    const { build } = buildsOf({ internal_source: { check, fetch: turn } }, { timeoutMs: 20 });
    const { error, isBegun } = await build('internal_source');
    expect(error).toBeInstanceOf(BuildError);
    expect([error!.message, isBegun]).toEqual([
      "The object storage could not be reached (ECONNREFUSED) until the build's time was over.",
      true,
    ]);
  });

  it('fails after the time limit, too, when the storage answers every check and fails in every build', async () => {
    let fetched = 0;
    const fetch = async () => {
      fetched += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw away();
    };
    const { build } = buildsOf({ internal_source: { check: async () => undefined, fetch } }, { timeoutMs: 250 });
    const { error } = await build('internal_source');
    expect(error).toMatchObject({ message: expect.stringContaining("until the build's time was over") });
    // The first one repeats nothing, and its time is its own.
    expect([fetched > 1, fetched < 6]).toEqual([true, true]);
  });
});
