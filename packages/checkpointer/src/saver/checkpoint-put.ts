import type { Checkpoint, CheckpointMetadata, SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { CheckpointKey, CheckpointPut, SerializedValue } from '../backend.ts';
import { JSON_TYPE } from '../metadata-json.ts';
import type { ChannelVersions } from './known-versions.ts';
import { serialize, toPlainJson } from './serialize.ts';

/** Bytes of metadata beyond which what an update wrote is not among what histories are searched by. */
const SEARCHED_MAX = 1024 * 1024;
const OPENING = '{'.charCodeAt(0);

export interface NewCheckpoint {
  serde: SerializerProtocol;
  key: CheckpointKey;
  parentCheckpointId: string | undefined;
  /** Undefined when there is no parent, or when this saver has neither loaded nor stored it recently. */
  parentVersions: ChannelVersions | undefined;
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata;
  /** Channels that LangGraph reports as changed, with their new versions. */
  newVersions: Record<string, string | number>;
}

/**
 * Makes the put of a checkpoint: itself without values, and the values of the channels that its parent does not have.
 */
export async function checkpointPut(made: NewCheckpoint): Promise<CheckpointPut> {
  const { serde, key, parentCheckpointId, checkpoint, metadata } = made;
  const channelVersions = Object.fromEntries(
    Object.entries(checkpoint.channel_versions).map(([channel, version]) => [channel, String(version)]),
  );
  const [bare, serializedMetadata, blobs] = await Promise.all([
    serialize(serde, { ...checkpoint, channel_values: {} }),
    serialize(serde, metadata),
    Promise.all(
      channelsToStore(made, channelVersions).map(async ({ channel, version }) => ({
        channel,
        version,
        ...(Object.hasOwn(checkpoint.channel_values, channel) && {
          value: await serialize(serde, (checkpoint.channel_values as Record<string, unknown>)[channel]),
        }),
      })),
    ),
  ]);
  return {
    key,
    parentCheckpointId,
    checkpoint: bare,
    metadata: serializedMetadata,
    ...searched(metadata, serializedMetadata),
    channelVersions,
    blobs,
  };
}

/** Says what histories are searched by where that is not the bytes of the metadata themselves. */
function searched(metadata: CheckpointMetadata, { type, data }: SerializedValue): Pick<CheckpointPut, 'metadataJson'> {
  if (data.byteLength > SEARCHED_MAX) return { metadataJson: toPlainJson({ ...metadata, writes: undefined }) };
  // LangGraph's serializer writes a text that says so in place of what it cannot write.
  const isObject = type === JSON_TYPE && data[0] === OPENING;
  return isObject ? {} : { metadataJson: toPlainJson(metadata) };
}

/**
 * Returns the changed channels and every channel whose value cannot be inherited. A copy of a checkpoint is put beside
 * it, under the same parent and with no changed channel: its values differ from its parent's, and other children of
 * that parent may have different values under the same versions.
 */
function channelsToStore(
  { checkpoint, metadata, newVersions, parentCheckpointId, parentVersions }: NewCheckpoint,
  channelVersions: Record<string, string>,
): { channel: string; version: string }[] {
  const changed = Object.entries(newVersions).map(([channel, version]) => ({ channel, version: String(version) }));
  if (parentCheckpointId === undefined && metadata.source !== 'fork') return changed;
  const notInherited = Object.keys(checkpoint.channel_values).filter(
    (channel) =>
      !Object.hasOwn(newVersions, channel) &&
      Object.hasOwn(channelVersions, channel) &&
      parentVersions?.[channel] !== channelVersions[channel],
  );
  return [...changed, ...notInherited.map((channel) => ({ channel, version: channelVersions[channel] as string }))];
}
