import type { SourceRevisionConfig } from '@runyard/contracts';
import type { RolloutRevision } from '@runyard/deployments';
import { checkAvailable, type ObjectStorage } from '@runyard/object-storage';
import type { BuildSources } from '../build-source.ts';

/** Provides uploaded archives as sources of `internal_source` revisions. */
export function uploadSources(storage: Pick<ObjectStorage, 'exists'>): BuildSources {
  return {
    internal_source: async (revision) => {
      const key = uploadedArchiveOf(revision);
      return {
        key,
        check: (signal) => checkAvailable(storage, key, signal),
        describe: async () => (url) => ({ kind: 'archive', url }),
      };
    },
  };
}

/** Returns the path of the revision's archive in the object storage. */
export function uploadedArchiveOf(revision: Pick<RolloutRevision, 'id' | 'sourceRevisionConfig'>): string {
  const { source_tarball_path: objectPath } = revision.sourceRevisionConfig as SourceRevisionConfig;
  if (objectPath == null) throw new Error(`revision ${revision.id} has no source`);
  return objectPath;
}
