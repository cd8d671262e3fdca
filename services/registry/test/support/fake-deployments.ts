import { randomUUID } from 'node:crypto';
import type { ImageDeployment, NamedImages, StorageLimits } from '@runyard/contracts';
import type { HeldGrant } from '@runyard/image-registry';
import { UnavailableError } from '@runyard/service-kit';

interface Deployment {
  workspaceId: string;
  source: string;
  /** The images that its revisions name, the oldest first. */
  images: string[];
  /** The number of the revision that serves, from 1. */
  serving: number | undefined;
}

/** A fake of what control-plane knows of deployments and their revisions. */
export class FakeDeployments {
  readonly #deployments = new Map<string, Deployment>();
  readonly #revisionsKept: number;
  max: StorageLimits['max'];
  /** Bytes of sources that each deployment has. */
  sources = 0;
  /** Tokens of older releases. */
  readonly formerTokens = new Map<string, HeldGrant>();
  /** True while it does not answer. */
  isAway = false;

  constructor(options: { revisionsKept: number; max: StorageLimits['max'] }) {
    this.#revisionsKept = options.revisionsKept;
    this.max = options.max;
  }

  add(source: string, workspaceId: string): string {
    const id = randomUUID();
    this.#deployments.set(id, { workspaceId, source, images: [], serving: undefined });
    return id;
  }

  delete(id: string): void {
    this.#deployments.delete(id);
  }

  deploy(id: string, images: string[]): void {
    this.#deployments.get(id)!.images.push(...images);
  }

  serve(id: string, number: number | undefined): void {
    this.#deployments.get(id)!.serving = number;
  }

  async describe(id: string): Promise<ImageDeployment['deployment']> {
    this.#answer();
    const found = this.#deployments.get(id);
    if (!found) return null;
    const sources = { deployment: this.sources, workspace: this.sources, platform: this.sources };
    return {
      workspace_id: found.workspaceId,
      accepts_pushes: found.source === 'internal_docker',
      storage: { sources, max: this.max },
    };
  }

  async namedImages(id: string): Promise<NamedImages> {
    this.#answer();
    const { images, serving } = this.#deployments.get(id) ?? { images: [], serving: undefined };
    const isKept = (index: number) => index >= images.length - this.#revisionsKept || index + 1 === serving;
    return { kept: images.filter((_, index) => isKept(index)), old: images.filter((_, index) => !isKept(index)) };
  }

  async openFormerToken(token: string): Promise<HeldGrant | null> {
    this.#answer();
    return this.formerTokens.get(token) ?? null;
  }

  #answer(): void {
    if (this.isAway)
      throw new UnavailableError('Deployments cannot be asked for at the moment', { code: 'image_check_unavailable' });
  }
}
