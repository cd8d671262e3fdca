import type { DeploymentSource, SourceRevisionConfig } from '@runyard/contracts';
import type { RegistryAddress } from '@runyard/image-registry';
import { invalidSource, missingField } from './source-fields.ts';

const FIELD = 'source_revision_config.image_uri';

/**
 * Matches names like `host:port/path/name:tag@digest`, in which only the name is required, and nothing that an engine
 * would parse as an option.
 */
const IMAGE_NAME = /^[A-Za-z0-9][\w.:-]*(?:\/[\w.-]+)*(?::[\w.-]+)?(?:@[a-z0-9+.-]+:[0-9a-f]+)?$/;

/**
 * Checks that a revision may run an image. A deployment may only use its own images of the platform's registry, because
 * the container engine may contain those of others.
 *
 * @param owner.registry the platform's own registry
 * @throws BadRequestError
 */
export function checkImage(
  source: DeploymentSource,
  { image_uri: imageUri }: SourceRevisionConfig,
  { deploymentId, registry }: { deploymentId: string; registry: RegistryAddress },
): void {
  // Nothing pushes an image of another registry: a revision without one would wait for ever.
  if (imageUri == null && source === 'external_docker') throw missingField(FIELD, source);
  if (imageUri == null) return;
  if (!IMAGE_NAME.test(imageUri)) throw invalidSource(`'${FIELD}' is no name of an image`);
  if (source === 'internal_docker' && !imageUri.startsWith(`${registry.imagesOf(deploymentId)}/`)) {
    throw invalidSource(`'${FIELD}' must be below ${registry.imagesOf(deploymentId)}`);
  }
  if (source === 'external_docker' && registry.holds(imageUri)) {
    throw invalidSource("images of this platform's registry are for the source 'internal_docker'");
  }
}
