import type { CheckpointPut, StoredCheckpoint } from '@runyard/checkpointer/graph-process';

/**
 * Returns a checkpoint that has just become durable, as storage would return it: a channel that it does not write is
 * its parent's, where both have the same version. Undefined when that cannot be told, or when it is not the newest.
 *
 * @param parent the checkpoint that was read or put before; undefined for none
 */
export function putCheckpoint(put: CheckpointPut, parent: StoredCheckpoint | undefined): StoredCheckpoint | undefined {
  const { key, parentCheckpointId, checkpoint, metadata, blobs, channelVersions } = put;
  const inherited = parent === undefined ? [] : inheritedValues(put, parent);
  const isAfterParent = parent === undefined || parent.key.checkpointId < key.checkpointId;
  if (parentCheckpointId !== parent?.key.checkpointId || !isAfterParent || inherited === undefined) return undefined;
  const own = blobs.flatMap(({ channel, value }) =>
    value && Object.hasOwn(channelVersions, channel) ? [{ channel, value }] : [],
  );
  return {
    key,
    ...(parentCheckpointId !== undefined && { parentCheckpointId }),
    checkpoint,
    metadata,
    channelValues: [...own, ...inherited],
    pendingWrites: [],
  };
}

function inheritedValues(
  { blobs, channelVersions }: CheckpointPut,
  { checkpoint: { type, data }, channelValues }: StoredCheckpoint,
): StoredCheckpoint['channelValues'] | undefined {
  const written = new Set(blobs.map(({ channel }) => channel));
  const others = channelValues.filter(({ channel }) => !written.has(channel));
  if (others.length === 0) return [];
  if (type !== 'json') return undefined;
  const { channel_versions: versions } = JSON.parse(new TextDecoder().decode(data)) as {
    channel_versions: Record<string, string | number>;
  };
  return others.filter(
    ({ channel }) => Object.hasOwn(channelVersions, channel) && channelVersions[channel] === String(versions[channel]),
  );
}
