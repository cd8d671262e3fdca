import type { SourceRevisionConfig } from '@runyard/contracts';
import pRetry from 'p-retry';
import { BuildFailure } from '../../builds/build-failure.ts';
import type { BuildSource } from '../../builds/build-source.ts';
import type { BuildSources } from '../../builds/builds.ts';
import { unpackArchive } from '../../builds/unpack-archive.ts';
import { type ObjectStorage, ObjectStorageUnavailableError } from '../../object-storage/object-storage.ts';

/** Everything a deployment has in the object storage is below it. */
export const objectsPrefix = (deploymentId: string) => `deployments/${deploymentId}/`;

export interface RetryTimes {
  firstMs: number;
  longestMs: number;
}

const RETRY_TIMES: RetryTimes = { firstMs: 1_000, longestMs: 30_000 };

/** What revisions of `internal_source` are built from. */
export function uploadSources(storage: ObjectStorage, times: RetryTimes = RETRY_TIMES): BuildSources {
  return {
    internal_source: async (revision) => {
      const { source_tarball_path: objectPath } = revision.sourceRevisionConfig as SourceRevisionConfig;
      if (objectPath == null) throw new Error(`revision ${revision.id} has no source`);
      return uploadedSource(storage, objectPath, times);
    },
  };
}

/** An archive that was uploaded for the deployment. While the storage is away it is asked again, for as long as the build may take. */
function uploadedSource(storage: ObjectStorage, objectPath: string, { firstMs, longestMs }: RetryTimes): BuildSource {
  return {
    key: objectPath,
    async fetch(folder, { signal, say }) {
      let outage: ObjectStorageUnavailableError | undefined;
      const unpack = async () => {
        const archive = await storage.open(objectPath, signal);
        if (!archive)
          throw new BuildFailure(`The uploaded archive ${objectPath} is not there any more: upload it again`);
        outage = undefined;
        say('Unpacking the uploaded archive');
        // What an attempt before it has left is written over.
        await unpackArchive(archive, folder, { signal });
      };
      try {
        await pRetry(unpack, {
          retries: Number.POSITIVE_INFINITY,
          minTimeout: firstMs,
          maxTimeout: longestMs,
          randomize: true,
          signal,
          shouldRetry: ({ error }) => {
            if (!(error instanceof ObjectStorageUnavailableError)) return false;
            outage = error;
            say(`${error.message}: trying again`);
            return true;
          },
        });
      } catch (error) {
        throw signal.aborted && outage ? new BuildFailure(`${outage.message} until the build's time was over`) : error;
      }
    },
  };
}
