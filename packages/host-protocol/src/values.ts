/**
 * Encodes checkpoint operations: a JSON document names each value by type and length, and the values' bytes follow one
 * after the other in the document's order. The bytes are never parsed. The stream position of a put is behind them: it
 * is filled in when everything else is ready to be sent.
 */
import type {
  ChannelHistory,
  CheckpointPut,
  PendingWrite,
  SerializedValue,
  StoredCheckpoint,
  WritesPut,
} from '@runyard/checkpointer/graph-process';
import type {
  HistoryDocument,
  PutDocument,
  StoredDocument,
  WriteDocument,
  WritesDocument,
} from './messages/checkpoints.ts';
import type { ValueRef } from './messages/values.ts';

export class ValueWriter {
  readonly parts: Uint8Array[] = [];
  add(value: SerializedValue): ValueRef {
    this.parts.push(value.data);
    return [value.type, value.data.byteLength];
  }
}

export class ValueReader {
  readonly #bytes: Uint8Array;
  #position = 0;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }
  take([type, length]: ValueRef): SerializedValue {
    const end = this.#position + length;
    if (length < 0 || end > this.#bytes.byteLength) throw new RangeError('a value reaches past its message');
    const data = this.#bytes.subarray(this.#position, end);
    this.#position = end;
    return { type, data };
  }
  takeStreamPosition(): number {
    const { data } = this.take(['', STREAM_POSITION_BYTES]);
    return Number(new DataView(data.buffer, data.byteOffset).getBigUint64(0));
  }
}

const STREAM_POSITION_BYTES = 8;

/** The place of a stream position (u64, big-endian) in a message that is not sent yet. */
export class StreamPositionSlot {
  readonly bytes = new Uint8Array(STREAM_POSITION_BYTES);
  fill(position: number): void {
    new DataView(this.bytes.buffer).setBigUint64(0, BigInt(position));
  }
}

export function packPut(
  put: Omit<CheckpointPut, 'streamPosition'>,
  position?: StreamPositionSlot,
): { document: PutDocument; parts: Uint8Array[] } {
  const values = new ValueWriter();
  const document: PutDocument = {
    ...put,
    checkpoint: values.add(put.checkpoint),
    metadata: values.add(put.metadata),
    blobs: put.blobs.map((blob) => ({ ...blob, value: blob.value && values.add(blob.value) })),
  };
  return withPosition(document, values.parts, position);
}

export function unpackPut({ hasStreamPosition, ...document }: PutDocument, bytes: Uint8Array): CheckpointPut {
  const values = new ValueReader(bytes);
  return {
    ...document,
    checkpoint: values.take(document.checkpoint),
    metadata: values.take(document.metadata),
    blobs: document.blobs.map((blob) => ({ ...blob, value: blob.value && values.take(blob.value) })),
    ...(hasStreamPosition && { streamPosition: values.takeStreamPosition() }),
  };
}

export function packWrites(
  put: Omit<WritesPut, 'streamPosition'>,
  position?: StreamPositionSlot,
): { document: WritesDocument; parts: Uint8Array[] } {
  const values = new ValueWriter();
  const document = { ...put, writes: put.writes.map((write) => ({ ...write, value: values.add(write.value) })) };
  return withPosition(document, values.parts, position);
}

export function unpackWrites({ hasStreamPosition, ...document }: WritesDocument, bytes: Uint8Array): WritesPut {
  const values = new ValueReader(bytes);
  return {
    ...document,
    writes: document.writes.map((write) => ({ ...write, value: values.take(write.value) })),
    ...(hasStreamPosition && { streamPosition: values.takeStreamPosition() }),
  };
}

function withPosition<T>(document: T, parts: Uint8Array[], position: StreamPositionSlot | undefined) {
  if (!position) return { document, parts };
  return { document: { ...document, hasStreamPosition: true }, parts: [...parts, position.bytes] };
}

export function packStored(checkpoints: StoredCheckpoint[]): { document: StoredDocument[]; parts: Uint8Array[] } {
  const values = new ValueWriter();
  const addWrite = (write: PendingWrite): WriteDocument => ({ ...write, value: values.add(write.value) });
  const document = checkpoints.map(({ interruptsBeforeRun, ...stored }) => ({
    ...stored,
    checkpoint: values.add(stored.checkpoint),
    metadata: values.add(stored.metadata),
    channelValues: stored.channelValues.map((entry) => ({ ...entry, value: values.add(entry.value) })),
    pendingWrites: stored.pendingWrites.map(addWrite),
    ...(interruptsBeforeRun && { interruptsBeforeRun: interruptsBeforeRun.map(addWrite) }),
  }));
  return { document, parts: values.parts };
}

export function unpackStored(document: StoredDocument[], bytes: Uint8Array): StoredCheckpoint[] {
  const values = new ValueReader(bytes);
  const takeWrite = (write: WriteDocument): PendingWrite => ({ ...write, value: values.take(write.value) });
  return document.map(({ interruptsBeforeRun, ...stored }) => ({
    ...stored,
    checkpoint: values.take(stored.checkpoint),
    metadata: values.take(stored.metadata),
    channelValues: stored.channelValues.map((entry) => ({ ...entry, value: values.take(entry.value) })),
    pendingWrites: stored.pendingWrites.map(takeWrite),
    ...(interruptsBeforeRun && { interruptsBeforeRun: interruptsBeforeRun.map(takeWrite) }),
  }));
}

export function packHistories(histories: ChannelHistory[]): { document: HistoryDocument[]; parts: Uint8Array[] } {
  const values = new ValueWriter();
  const document = histories.map(({ channel, seed, writes }) => ({
    channel,
    ...(seed && { seed: values.add(seed) }),
    writes: writes.map((write) => ({ ...write, value: values.add(write.value) })),
  }));
  return { document, parts: values.parts };
}

export function unpackHistories(document: HistoryDocument[], bytes: Uint8Array): ChannelHistory[] {
  const values = new ValueReader(bytes);
  return document.map(({ channel, seed, writes }) => ({
    channel,
    ...(seed && { seed: values.take(seed) }),
    writes: writes.map((write) => ({ ...write, value: values.take(write.value) })),
  }));
}
