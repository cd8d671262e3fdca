/** Checkpoints in memory, as the parent of a host answers for them. */
import type {
  CheckpointPut,
  PendingWrite,
  SerializedValue,
  StoredCheckpoint,
} from '@runyard/checkpointer/graph-process';
import type { Incoming } from '../connection.ts';
import type { ToParent } from '../messages/messages.ts';
import { packHistories, packStored, unpackPut, unpackWrites } from '../values.ts';

type Kept = Omit<StoredCheckpoint, 'channelValues' | 'pendingWrites'> & { values: Map<string, SerializedValue> };

export class MemoryStorage {
  readonly puts: CheckpointPut[] = [];
  /** The number of puts that are kept. Later ones are lost, and have no answer. */
  putsMax = Number.POSITIVE_INFINITY;
  readonly #kept: Kept[] = [];
  readonly #writes = new Map<string, PendingWrite[]>();

  /** Answers an operation of a host; undefined for a type that is none of storage. */
  answer({ header, raw }: Incoming): { ok: unknown; raw?: Uint8Array[] } | undefined {
    const request = header as unknown as ToParent[keyof ToParent];
    switch (request.t) {
      case 'checkpoint.get': {
        const { threadId, namespace, checkpointId } = request;
        return pack(this.#find({ threadId, namespace, checkpointId }).slice(0, 1));
      }
      case 'checkpoint.list':
        return pack(this.#find(request.query).slice(0, request.query.limit ?? undefined));
      case 'checkpoint.put':
        if (this.puts.length >= this.putsMax) return undefined;
        this.#put(unpackPut(request.put, copyOf(raw)));
        return { ok: null };
      case 'checkpoint.putWrites': {
        const { key, taskId, writes } = unpackWrites(request.put, copyOf(raw));
        const kept = this.#writesAt(key);
        for (const { channel, value } of writes) kept.push({ taskId, channel, value });
        return { ok: null };
      }
      case 'checkpoint.channelHistories': {
        const { document, parts } = packHistories(request.channels.map((channel) => ({ channel, writes: [] })));
        return { ok: document, raw: parts };
      }
      case 'store.batch':
        return {
          ok: request.operations.map(({ kind }) => (kind === 'search' || kind === 'listNamespaces' ? [] : null)),
        };
      default:
        return undefined;
    }
  }

  #put(put: CheckpointPut): void {
    this.puts.push(put);
    const { key, parentCheckpointId, checkpoint, metadata, blobs, channelVersions } = put;
    const parent = this.#kept.find((kept) => kept.key.checkpointId === parentCheckpointId);
    const values = new Map([...(parent?.values ?? [])].filter(([channel]) => Object.hasOwn(channelVersions, channel)));
    for (const { channel, value } of blobs) {
      if (value) values.set(channel, value);
      else values.delete(channel);
    }
    this.#kept.push({ key, ...(parentCheckpointId && { parentCheckpointId }), checkpoint, metadata, values });
  }

  /** Returns the newest first. */
  #find(query: ToParent['checkpoint.list']['query']): StoredCheckpoint[] {
    const { threadId, namespace, checkpointId, beforeCheckpointId, after } = query;
    return this.#kept
      .filter(
        ({ key }) =>
          key.threadId === (threadId ?? key.threadId) &&
          key.namespace === (namespace ?? key.namespace) &&
          key.checkpointId === (checkpointId ?? key.checkpointId) &&
          (!beforeCheckpointId || key.checkpointId < beforeCheckpointId) &&
          (!after || key.checkpointId < after.checkpointId),
      )
      .sort((a, b) => (a.key.checkpointId < b.key.checkpointId ? 1 : -1))
      .map(({ values, ...kept }) => ({
        ...kept,
        channelValues: [...values].map(([channel, value]) => ({ channel, value })),
        pendingWrites: this.#writesAt(kept.key),
      }));
  }

  #writesAt({ threadId, namespace, checkpointId }: CheckpointPut['key']): PendingWrite[] {
    const place = JSON.stringify([threadId, namespace, checkpointId]);
    const kept = this.#writes.get(place) ?? [];
    this.#writes.set(place, kept);
    return kept;
  }
}

function pack(checkpoints: StoredCheckpoint[]): { ok: unknown; raw: Uint8Array[] } {
  const { document, parts } = packStored(checkpoints);
  return { ok: document, raw: parts };
}

/** Copies bytes that share their memory with other messages. */
function copyOf(raw: Buffer): Uint8Array {
  return Uint8Array.from(raw);
}
