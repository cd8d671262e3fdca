import {
  type PlatformImage,
  ProjectBase,
  ProjectImageAnswer,
  type ProjectImageRequest,
  ProjectImagesRemoved,
  type ProjectLayer,
} from '@runyard/contracts';
import { PROJECT_REPOSITORY, type RegistryService, type RegistryTokens } from '@runyard/image-registry';
import { BuildError } from '../revisions/build-error.ts';

/** Longer than any build and its queue. */
const PUSH_TOKEN_MS = 24 * 3_600_000;

/** A revision whose project runs as an image. */
export interface ImageRevision {
  id: string;
  deploymentId: string;
}

interface Progress {
  say: (line: string) => void;
  signal: AbortSignal;
}

/**
 * Has the registry make images of projects, for a cluster or a remote data plane. All calls may throw
 * RegistryUnavailableError, while the registry or its storage is unavailable.
 */
export class ProjectImages {
  readonly #registry: Pick<RegistryService, 'ask'>;
  readonly #tokens: Pick<RegistryTokens, 'issue'>;

  constructor(options: { registry: Pick<RegistryService, 'ask'>; tokens: Pick<RegistryTokens, 'issue'> }) {
    this.#registry = options.registry;
    this.#tokens = options.tokens;
  }

  /**
   * Prepares an image before the build, which would be in vain without a base.
   *
   * @param build identifies the build within the deployment; null for a project whose images are not shared
   * @returns the revision's image when it has one, its own or a shared one; null when it has to be made
   * @throws BuildError when there is no base
   */
  prepare(revision: ImageRevision, build: string | null, progress: Progress): Promise<PlatformImage | null> {
    return this.#askForImage('/internal/project-images/prepare', requestOf(revision, build), progress);
  }

  /**
   * Makes the image of a project, whose layer is in the deployment's repository.
   *
   * @returns null when the layer is gone
   * @throws BuildError
   */
  make(
    revision: ImageRevision,
    build: string | null,
    layer: ProjectLayer,
    progress: Progress,
  ): Promise<PlatformImage | null> {
    return this.#askForImage('/internal/project-images/make', { ...requestOf(revision, build), layer }, progress);
  }

  /** Returns the architecture that packages of a project have to be installed for. @throws BuildError */
  async findArchitecture(signal: AbortSignal): Promise<string> {
    const base = await this.#registry.ask('/internal/project-images/base', {}, ProjectBase, signal);
    if (base.architecture !== null) return base.architecture;
    throw new BuildError(base.failure ?? 'The base image does not name its architecture');
  }

  /** Returns a token with which a builder pushes the layer of a project, and nothing else. */
  issuePushToken(deploymentId: string): string {
    return this.#tokens.issue({ deploymentId, name: PROJECT_REPOSITORY, mayPush: true }, PUSH_TOKEN_MS);
  }

  /** Removes the images of all other revisions and builds. */
  async keepOnly(deploymentId: string, revisionIds: string[], builds: string[]): Promise<void> {
    const question = { deployment_id: deploymentId, revision_ids: revisionIds, builds };
    await this.#registry.ask('/internal/project-images/keep', question, ProjectImagesRemoved);
  }

  async #askForImage(path: string, question: object, { say, signal }: Progress): Promise<PlatformImage | null> {
    const { image, failure, log } = await this.#registry.ask(path, question, ProjectImageAnswer, signal);
    log.forEach(say);
    if (failure !== null) throw new BuildError(failure);
    return image;
  }
}

function requestOf({ deploymentId, id }: ImageRevision, build: string | null): ProjectImageRequest {
  return { deployment_id: deploymentId, revision_id: id, build };
}
