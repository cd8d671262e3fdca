import type { CheckpointPut } from '../backend.ts';

/**
 * Where a checkpoint's channel values are: channel → [version, id of the checkpoint that wrote the blob]. A channel without a
 * value is not in it. The writer is part of a blob's name because two forks of one checkpoint write the same
 * versions with different values.
 */
export type ChannelBlobs = Readonly<Record<string, readonly [version: string, writer: string]>>;

/**
 * The blobs of a new checkpoint: its own for the channels it writes, its parent's for those that still have the version the
 * parent holds.
 */
export function channelBlobs(put: CheckpointPut, parent: ChannelBlobs | undefined): ChannelBlobs {
  const blobs: [string, readonly [string, string]][] = [];
  const written = new Set<string>();
  for (const { channel, version, value } of put.blobs) {
    written.add(channel);
    if (value) blobs.push([channel, [version, put.key.checkpointId]]);
  }
  for (const [channel, blob] of Object.entries(parent ?? {})) {
    if (
      !written.has(channel) &&
      Object.hasOwn(put.channelVersions, channel) &&
      put.channelVersions[channel] === blob[0]
    )
      blobs.push([channel, blob]);
  }
  return Object.fromEntries(blobs);
}
