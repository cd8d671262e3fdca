export { AbandonedFiles } from './abandoned-files.ts';
export { FolderStorage, INCOMING } from './folder-storage.ts';
export { ObjectRemovals, startObjectRemovals } from './object-removals.ts';
export { checkAvailable, type ObjectStorage, ObjectStorageUnavailableError } from './object-storage.ts';
export { objectStorageVariables, openObjectStorage } from './open-object-storage.ts';
export { pendingObjects } from './pending-objects.ts';
export {
  addSums,
  type DiskReserve,
  findRoom,
  type Room,
  withDiskReserve,
} from './storage-room.ts';
