import type { CheckpointPut } from '../backend.ts';

/**
 * The places of a checkpoint's channel values: channel → [version, id of the checkpoint that wrote the blob]. Channels
 * without a value are missing. The writer is a part of a blob's name, because two forks of one checkpoint write the
 * same versions with different values.
 */
export type ChannelBlobs = Readonly<Record<string, readonly [version: string, writer: string]>>;

/**
 * Returns the blobs of a new checkpoint: its own for the channels it writes, and its parent's for channels with the
 * same version as in the parent.
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
