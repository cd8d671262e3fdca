import type { IncomingMessage } from 'node:http';
import { type DiskReserve, withDiskReserve } from '@runyard/object-storage';
import { PayloadTooLargeError, receiveFile } from '@runyard/service-kit';
import type { StorageQuota } from './storage-quota.ts';

export interface ReceivedArchive {
  deploymentId: string;
  /** The path that gets its bytes. */
  file: string;
  /** Bytes of one archive. */
  maxBytes: number;
}

/**
 * Receives an archive of a deployment, and no more of it than the storage limits and the reserve of the disk leave.
 *
 * @returns its bytes
 * @throws PayloadTooLargeError, InsufficientStorageError, ClientDisconnectedError; UnavailableError while it is not known
 * what images take
 */
export async function receiveArchive(
  req: IncomingMessage,
  { deploymentId, file, maxBytes }: ReceivedArchive,
  { quota, disk, signal }: { quota: Pick<StorageQuota, 'findRoom'>; disk: DiskReserve; signal: AbortSignal },
): Promise<number> {
  const { bytes: room, refusal } = await quota.findRoom(deploymentId);
  if (room <= 0) throw refusal;
  const receive = (limited: AbortSignal) =>
    receiveFile(req, file, { maxBytes: Math.min(maxBytes, room), signal: limited });
  return withDiskReserve(signal, disk, receive).catch((error: unknown) => {
    throw room < maxBytes && error instanceof PayloadTooLargeError ? refusal : error;
  });
}
