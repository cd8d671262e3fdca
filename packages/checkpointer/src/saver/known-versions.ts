import type { CheckpointKey } from '../backend.ts';

/** Versions of the channels of a checkpoint, as text. */
export type ChannelVersions = Readonly<Record<string, string>>;

const CHECKPOINTS_KEPT = 64;

/**
 * The channel versions of the checkpoints that a saver loaded or stored last. A new checkpoint may leave a channel to
 * be inherited only when the parent is known to have that version; otherwise the value is stored again, which is always
 * correct.
 */
export class KnownVersions {
  readonly #versions = new Map<string, ChannelVersions>();

  remember(key: CheckpointKey, versions: ChannelVersions): void {
    const name = nameOf(key);
    this.#versions.delete(name);
    this.#versions.set(name, versions);
    if (this.#versions.size <= CHECKPOINTS_KEPT) return;
    const oldest = this.#versions.keys().next();
    if (!oldest.done) this.#versions.delete(oldest.value);
  }

  of(key: CheckpointKey): ChannelVersions | undefined {
    return this.#versions.get(nameOf(key));
  }
}

function nameOf({ threadId, namespace, checkpointId }: CheckpointKey): string {
  return JSON.stringify([threadId, namespace, checkpointId]);
}
