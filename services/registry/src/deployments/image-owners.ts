import { BASE_LAYERS, type ImageOwner } from '../stored-images/image-owner.ts';
import type { RegistryStore } from '../stored-images/registry-store.ts';
import type { ControlPlaneQuestions } from './control-plane-questions.ts';

/** Finds out for which deployments images may be stored: control-plane is asked each time. */
export class ImageOwners {
  readonly #store: RegistryStore;
  readonly #controlPlane: Pick<ControlPlaneQuestions, 'describe'>;

  constructor(options: { store: RegistryStore; controlPlane: Pick<ControlPlaneQuestions, 'describe'> }) {
    this.#store = options.store;
    this.#controlPlane = options.controlPlane;
  }

  /**
   * Returns null when nothing may be stored for the deployment.
   *
   * @param isForPlatform true for an image that the platform makes: it makes some of projects from every kind of source
   * @throws UnavailableError
   */
  async find(deploymentId: string, isForPlatform: boolean): Promise<ImageOwner | null> {
    if (deploymentId === BASE_LAYERS.deploymentId) return null;
    const found = await this.#controlPlane.describe(deploymentId);
    if (!found || !(found.accepts_pushes || isForPlatform)) return null;
    const { workspace_id: workspaceId, storage } = found;
    await this.#store.addDeployment(deploymentId, workspaceId);
    return { deploymentId, workspaceId, storage };
  }
}
