import { ObjectRemovals, type ObjectStorage } from '@runyard/object-storage';
import { silentLogger } from '@runyard/service-kit';
import type { Database } from '../../src/database/database.ts';

/** Opens the removals of a single process, which has the lease of the sweep. */
export function openRemovals(database: Database, objects: Pick<ObjectStorage, 'remove'>): ObjectRemovals {
  const lease = { name: 'object removals', isMine: async () => true, release: async () => undefined };
  return new ObjectRemovals({ database, objects, lease, logger: silentLogger });
}
