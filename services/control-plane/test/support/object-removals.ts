import { silentLogger } from '@runyard/service-kit';
import type { Database } from '../../src/database/database.ts';
import { ObjectRemovals } from '../../src/object-storage/object-removals.ts';
import type { ObjectStorage } from '../../src/object-storage/object-storage.ts';

/** Opens the removals of a single process, which has the lease of the sweep. */
export function openRemovals(database: Database, objects: Pick<ObjectStorage, 'remove'>): ObjectRemovals {
  const lease = { name: 'object removals', isMine: async () => true, release: async () => undefined };
  return new ObjectRemovals({ database, objects, lease, logger: silentLogger });
}
