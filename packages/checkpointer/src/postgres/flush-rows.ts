import { toSqlJson, toSqlText } from '@runyard/database';
import type { SerializedValue } from '../backend.ts';
import type { CheckpointOperation, PutOperation, Writer, WritesOperation } from './checkpoint-operation.ts';
import { PackedBytes } from './packed-bytes.ts';

/**
 * The rows of one flush as columns, the form in which one statement accepts any number of them. A statement may not
 * touch a row twice: a checkpoint is put once, and a write whose key occurs twice becomes one row, the last one where
 * `index` is negative and the first one elsewhere.
 */
export class FlushRows {
  readonly #bytes = new PackedBytes();
  /** Each fence once, in the order of its first operation; rows name theirs by position, counted from 1. */
  readonly #fences = new Map<string, { position: number; writer: Writer }>();
  readonly #puts: { fence: number; operation: PutOperation }[] = [];
  readonly #writes = new Map<string, { fence: number; put: WritesOperation['put']; write: WriteRow }>();

  /** Returns the position of the operation's fence. A deletion adds nothing else. */
  add(operation: CheckpointOperation): number {
    const fence = this.#fenceOf(operation.writer);
    if (operation.kind === 'deleteThread') return fence;
    if (operation.kind === 'put') {
      this.#puts.push({ fence, operation });
      return fence;
    }
    const { put } = operation;
    const { namespace, checkpointId } = put.key;
    for (const write of put.writes) {
      const name = JSON.stringify([fence, namespace, checkpointId, put.taskId, write.index]);
      if (write.index < 0 || !this.#writes.has(name)) this.#writes.set(name, { fence, put, write });
    }
    return fence;
  }

  /** Returns the parameters of `FLUSH`, in its order. */
  parameters(): unknown[] {
    const columns = [this.#checkpointColumns(), this.#blobColumns(), this.#writeColumns()];
    const values = columns.flatMap((rows) => Object.values(rows));
    return [...this.fences(), ...values, this.#bytes.toBuffer(), ...this.#streamPositions()];
  }

  /** Returns the first parameters of `DELETE_PARTS`. */
  fences(): unknown[] {
    const fences = [...this.#fences.values()].map(({ writer }) => writer.fence);
    return [
      fences.map(({ threadId }) => threadId),
      fences.map(({ epoch }) => String(epoch)),
      fences.map(({ runId }) => runId),
    ];
  }

  #fenceOf(writer: Writer): number {
    const { threadId, epoch, runId } = writer.fence;
    const name = `${threadId}/${epoch}/${runId}`;
    const known = this.#fences.get(name);
    if (known) return known.position;
    const position = this.#fences.size + 1;
    this.#fences.set(name, { position, writer });
    return position;
  }

  #checkpointColumns() {
    const columns = {
      fence: [] as number[],
      namespace: [] as string[],
      checkpointId: [] as string[],
      parentId: [] as (string | null)[],
      ...byteColumns(),
      searchableAt: [] as number[],
      searchableLength: [] as number[],
      metadataType: [] as string[],
      metadataAt: [] as number[],
      metadataLength: [] as number[],
      channelBlobs: [] as string[],
    };
    for (const { fence, operation } of this.#puts) {
      const { searchable } = operation;
      const { key, parentCheckpointId, checkpoint, metadata } = operation.put;
      columns.fence.push(fence);
      columns.namespace.push(toSqlText(key.namespace));
      columns.checkpointId.push(toSqlText(key.checkpointId));
      columns.parentId.push(parentCheckpointId === undefined ? null : toSqlText(parentCheckpointId));
      this.#pushBytes(columns, checkpoint);
      const metadataAt = this.#bytes.add(metadata.data);
      columns.searchableAt.push(searchable === metadata.data ? metadataAt : this.#bytes.add(searchable));
      columns.searchableLength.push(searchable.byteLength);
      columns.metadataType.push(metadata.type);
      columns.metadataAt.push(metadataAt);
      columns.metadataLength.push(metadata.data.byteLength);
      columns.channelBlobs.push(toSqlJson(operation.own.blobs ?? {}));
    }
    return columns;
  }

  #blobColumns() {
    const columns = {
      fence: [] as number[],
      namespace: [] as string[],
      checkpointId: [] as string[],
      channel: [] as string[],
      version: [] as string[],
      ...byteColumns(),
    };
    for (const { fence, operation } of this.#puts) {
      const { key, blobs } = operation.put;
      // A channel that is listed twice counts once.
      for (const { channel, version, value } of new Map(blobs.map((blob) => [blob.channel, blob])).values()) {
        if (!value) continue;
        columns.fence.push(fence);
        columns.namespace.push(toSqlText(key.namespace));
        columns.checkpointId.push(toSqlText(key.checkpointId));
        columns.channel.push(toSqlText(channel));
        columns.version.push(toSqlText(version));
        this.#pushBytes(columns, value);
      }
    }
    return columns;
  }

  #writeColumns() {
    const columns = {
      fence: [] as number[],
      namespace: [] as string[],
      checkpointId: [] as string[],
      taskId: [] as string[],
      index: [] as number[],
      taskPath: [] as string[],
      channel: [] as string[],
      ...byteColumns(),
    };
    for (const { fence, put, write } of this.#writes.values()) {
      columns.fence.push(fence);
      columns.namespace.push(toSqlText(put.key.namespace));
      columns.checkpointId.push(toSqlText(put.key.checkpointId));
      columns.taskId.push(toSqlText(put.taskId));
      columns.index.push(write.index);
      columns.taskPath.push(toSqlText(put.taskPath));
      columns.channel.push(toSqlText(write.channel));
      this.#pushBytes(columns, write.value);
    }
    return columns;
  }

  /** Returns the positions of the checkpoints and of the writes, in the order of the other columns. */
  #streamPositions(): (number | null)[][] {
    return [
      this.#puts.map(({ operation }) => operation.put.streamPosition ?? null),
      [...this.#writes.values()].map(({ put }) => put.streamPosition ?? null),
    ];
  }

  #pushBytes(columns: ReturnType<typeof byteColumns>, { type, data }: SerializedValue): void {
    columns.type.push(toSqlText(type));
    columns.at.push(this.#bytes.add(data));
    columns.length.push(data.byteLength);
  }
}

type WriteRow = WritesOperation['put']['writes'][number];

function byteColumns() {
  return { type: [] as string[], at: [] as number[], length: [] as number[] };
}
