import { FormerImageToken, ImageDeployment, NamedImages } from '@runyard/contracts';
import type { HeldGrant } from '@runyard/image-registry';
import { type InternalClient, InternalTokenRefusedError, UnavailableError } from '@runyard/service-kit';
import type { Static, TSchema } from 'typebox';

/** Asks control-plane, which knows the deployments and their revisions. */
export class ControlPlaneQuestions {
  readonly #client: Pick<InternalClient, 'ask'>;

  constructor(client: Pick<InternalClient, 'ask'>) {
    this.#client = client;
  }

  /** Returns null for a deployment that does not exist, or is being deleted. @throws UnavailableError */
  async describe(deploymentId: string): Promise<ImageDeployment['deployment']> {
    const question = { deployment_id: deploymentId };
    return (await this.#ask('/internal/images/deployment', question, ImageDeployment)).deployment;
  }

  /** Returns the images that the deployment's revisions name. @throws UnavailableError */
  namedImages(deploymentId: string): Promise<NamedImages> {
    return this.#ask('/internal/images/named', { deployment_id: deploymentId }, NamedImages);
  }

  /** Returns what a token of older releases permits; null for a text that is none. @throws UnavailableError */
  async openFormerToken(token: string): Promise<HeldGrant | null> {
    const { grant } = await this.#ask('/internal/images/former-token', { token }, FormerImageToken);
    return (
      grant && {
        deploymentId: grant.deployment_id,
        name: grant.name ?? undefined,
        mayPush: grant.may_push,
        expiresAt: grant.expires_at,
      }
    );
  }

  async #ask<const Schema extends TSchema>(path: string, question: object, schema: Schema): Promise<Static<Schema>> {
    try {
      return await this.#client.ask(path, question, schema);
    } catch (cause) {
      if (cause instanceof InternalTokenRefusedError) throw cause;
      throw new UnavailableError('Deployments cannot be asked for at the moment', {
        code: 'image_check_unavailable',
        cause,
      });
    }
  }
}
