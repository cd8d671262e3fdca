import { uuid6 } from '@langchain/langgraph-checkpoint';
import type { CheckpointKey, CheckpointPut, SerializedValue, StoredCheckpoint, WritesPut } from '../src/index.ts';

const encoder = new TextEncoder();

function json(value: unknown): SerializedValue {
  return { type: 'json', data: encoder.encode(JSON.stringify(value)) };
}

export function fromJson({ data }: SerializedValue): unknown {
  return JSON.parse(Buffer.from(data).toString());
}

export interface SampleCheckpoint {
  threadId: string;
  checkpointId?: string;
  namespace?: string;
  parent?: CheckpointKey;
  /** Channels with new values: version and value; `undefined` for a channel that is empty now. */
  changed?: Record<string, [version: number, value: unknown]>;
  /** Channels without new values, with their versions. */
  unchanged?: Record<string, number>;
  metadata?: Record<string, unknown>;
}

/** Returns a put as a saver would send it. */
export function samplePut(sample: SampleCheckpoint): CheckpointPut {
  const { threadId, checkpointId = uuid6(0), namespace = '', changed = {}, unchanged = {}, metadata = {} } = sample;
  const versions = Object.entries(changed).map(([channel, [version]]) => [channel, version] as const);
  return {
    key: { threadId, namespace, checkpointId },
    parentCheckpointId: sample.parent?.checkpointId,
    checkpoint: json({ id: checkpointId }),
    metadata: json(metadata),
    metadataJson: metadata,
    channelVersions: Object.fromEntries(
      [...versions, ...Object.entries(unchanged)].map(([channel, version]) => [channel, String(version)]),
    ),
    blobs: Object.entries(changed).map(([channel, [version, value]]) => ({
      channel,
      version: String(version),
      ...(value !== undefined && { value: json(value) }),
    })),
  };
}

/** Returns writes of one task at a checkpoint, from [channel, value] or [channel, value, index]. */
export function sampleWrites(
  key: CheckpointKey,
  taskId: string,
  ...writes: [channel: string, value: unknown, index?: number][]
): WritesPut {
  return {
    key,
    taskId,
    taskPath: '',
    writes: writes.map(([channel, value, index], position) => ({
      index: index ?? position,
      channel,
      value: json(value),
    })),
  };
}

export function valuesOf(stored: StoredCheckpoint | undefined): Record<string, unknown> | undefined {
  return stored && Object.fromEntries(stored.channelValues.map(({ channel, value }) => [channel, fromJson(value)]));
}

export function writesOf(stored: StoredCheckpoint | undefined): [string, string, unknown][] | undefined {
  return stored?.pendingWrites.map(({ taskId, channel, value }) => [taskId, channel, fromJson(value)]);
}
