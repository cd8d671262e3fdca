import type { Fence } from '@runyard/run-engine';
import type { BackendError, CheckpointPut, WritesPut } from '../backend.ts';
import type { ChannelBlobs } from './channel-blobs.ts';

/** The holder of a fence: what of its operations is shared. */
export interface Writer {
  readonly fence: Fence;
  /** Set when one of its operations has failed: nothing later may become durable. */
  failure: BackendError | undefined;
}

/** Which blobs a checkpoint's channels have: filled in when it is read or flushed. */
export interface CheckpointBlobs {
  blobs?: ChannelBlobs;
}

export interface PutOperation {
  kind: 'put';
  writer: Writer;
  put: CheckpointPut;
  own: CheckpointBlobs;
  /** The parent's, which may be in the same flush; `stored`: to be read from the database. */
  parent: CheckpointBlobs | 'stored' | undefined;
}

export interface WritesOperation {
  kind: 'writes';
  writer: Writer;
  put: WritesPut;
}

export interface DeleteOperation {
  kind: 'deleteThread';
  writer: Writer;
}

export type CheckpointOperation = PutOperation | WritesOperation | DeleteOperation;

/** Bytes an operation brings to a flush, without the few that name it. */
export function sizeOf(operation: CheckpointOperation): number {
  switch (operation.kind) {
    case 'put': {
      const { checkpoint, metadata, blobs } = operation.put;
      // Metadata goes twice: as the serializer wrote it and as searchable JSON.
      const own = checkpoint.data.byteLength + 2 * metadata.data.byteLength;
      return blobs.reduce((sum, { value }) => sum + (value?.data.byteLength ?? 0), own);
    }
    case 'writes':
      return operation.put.writes.reduce((sum, { value }) => sum + value.data.byteLength, 0);
    case 'deleteThread':
      return 0;
  }
}
