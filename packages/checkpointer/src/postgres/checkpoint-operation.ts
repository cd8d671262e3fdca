import type { Fence } from '@runyard/run-engine';
import type { BackendError, CheckpointPut, WritesPut } from '../backend.ts';
import type { ChannelBlobs } from './channel-blobs.ts';

/** The owner of a fence, with the state that its operations share. */
export interface Writer {
  readonly fence: Fence;
  /** The error of its first failed operation: nothing later may become durable. */
  failure: BackendError | undefined;
  /** Forgets which blobs stored checkpoints have: the database may have lost some of them. */
  forgetBlobs(): void;
}

/** The blobs of a checkpoint's channels, set when it is read or flushed. */
export interface CheckpointBlobs {
  blobs?: ChannelBlobs;
}

export interface PutOperation {
  kind: 'put';
  writer: Writer;
  put: CheckpointPut;
  /** The JSON text that histories are searched by. */
  searchable: Uint8Array;
  own: CheckpointBlobs;
  /** The parent's blobs, which may be in the same flush; `stored`: they must be read from the database. */
  parent: CheckpointBlobs | 'stored' | undefined;
}

export interface WritesOperation {
  kind: 'writes';
  writer: Writer;
  put: WritesPut;
}

/** Removes a part of the thread: at most `rowsMax` of each kind of row. */
export interface DeleteOperation {
  kind: 'deleteThread';
  writer: Writer;
  rowsMax: number;
  /** Set when the operation is flushed. */
  own: { hasMore?: boolean };
}

export type CheckpointOperation = PutOperation | WritesOperation | DeleteOperation;

/** Returns the bytes that an operation adds to a flush, without the few of its key. */
export function sizeOf(operation: CheckpointOperation): number {
  switch (operation.kind) {
    case 'put': {
      const { checkpoint, metadata, blobs } = operation.put;
      const own = checkpoint.data.byteLength + metadata.data.byteLength + operation.searchable.byteLength;
      return blobs.reduce((sum, { value }) => sum + (value?.data.byteLength ?? 0), own);
    }
    case 'writes':
      return operation.put.writes.reduce((sum, { value }) => sum + value.data.byteLength, 0);
    case 'deleteThread':
      return 0;
  }
}
