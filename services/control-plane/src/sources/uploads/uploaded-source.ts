import type { SourceRevisionConfig } from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import { checkAvailable, type ObjectStorage } from '@runyard/object-storage';
import type { BuildSource } from '../../builds/build-source.ts';
import type { BuildSources } from '../../builds/builds.ts';
import { unpackArchive } from '../../builds/unpack-archive.ts';

/** Provides uploaded archives as sources of `internal_source` revisions. */
export function uploadSources(storage: Pick<ObjectStorage, 'open' | 'exists'>): BuildSources {
  return {
    internal_source: async (revision) => {
      const { source_tarball_path: objectPath } = revision.sourceRevisionConfig as SourceRevisionConfig;
      if (objectPath == null) throw new Error(`revision ${revision.id} has no source`);
      return uploadedSource(storage, objectPath);
    },
  };
}

/** Makes the source of an archive that was uploaded for the deployment. */
function uploadedSource(storage: Pick<ObjectStorage, 'open' | 'exists'>, objectPath: string): BuildSource {
  return {
    key: objectPath,
    check: (signal) => checkAvailable(storage, objectPath, signal),
    async fetch(folder, { signal, say }) {
      const archive = await storage.open(objectPath, signal);
      if (!archive) throw new BuildError(`The uploaded archive ${objectPath} is not there any more: upload it again`);
      say('Unpacking the uploaded archive');
      await unpackArchive(archive, folder, { signal });
    },
  };
}
