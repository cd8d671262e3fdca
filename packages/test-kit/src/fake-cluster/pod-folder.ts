import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Container } from '@kubernetes/client-node';

/** Maps the paths of a pod to this machine: each of its volumes is a folder, and so is its image. */
export class PodFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  get image(): string {
    return join(this.#path, 'image');
  }

  volume(name: string): string {
    return join(this.#path, name);
  }

  /** Returns the file of a container's termination message. */
  terminationLog({ name }: V1Container): string {
    return join(this.#path, `${name}.message`);
  }

  /** Replaces the container's paths in a word of a command by those of this machine. */
  replacePaths(word: string, container: V1Container): string {
    const mounts = container.volumeMounts ?? [];
    const places = mounts.map(({ name, mountPath }) => [mountPath, this.volume(name)] as const);
    return [...places, ['/dev/termination-log', this.terminationLog(container)] as const].reduce(
      (text, [path, place]) => text.replaceAll(path, place),
      word,
    );
  }

  async remove(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true });
  }
}
