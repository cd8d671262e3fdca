import { PROJECT_FOLDER } from '@runyard/deployments';
import { digestOf } from '@runyard/image-registry';
import type { BaseImage } from '../base-images/base-image.ts';
import { CONFIG_TYPE, type Descriptor, LAYER_TYPE, MANIFEST_TYPE, ociLayerType } from '../base-images/image-content.ts';

interface ProjectLayer {
  digest: string;
  size: number;
  /** The digest of its uncompressed content. */
  diffId: string;
}

export interface ImageOverrides {
  layer: ProjectLayer;
  /** Variables that the image's containers have beside those of the base. */
  env: Record<string, string>;
  annotations: Record<string, string>;
}

/** Annotations of the image specification for the base of an image. */
const BASE_NAME = 'org.opencontainers.image.base.name';
const BASE_DIGEST = 'org.opencontainers.image.base.digest';

/**
 * Composes an image of the base and one more layer, which is its working directory, and returns its configuration and
 * its manifest. Equal inputs give equal bytes.
 */
export function composeImage(base: BaseImage, { layer, env, annotations }: ImageOverrides) {
  const { config: own, rootfs, history, ...machine } = base.config;
  const kept = (own?.Env ?? []).filter((variable) => !(variable.split('=', 1)[0]! in env));
  const created = base.config.created ?? new Date(0).toISOString();
  const config = Buffer.from(
    JSON.stringify({
      ...machine,
      created,
      config: {
        ...own,
        Env: [...kept, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
        WorkingDir: PROJECT_FOLDER,
      },
      rootfs: { ...rootfs, diff_ids: [...rootfs.diff_ids, layer.diffId] },
      history: [...(history ?? []), { created, created_by: `COPY . ${PROJECT_FOLDER}`, comment: 'runyard' }],
    }),
  );
  const layers: Descriptor[] = [
    ...base.layers.map(({ mediaType, digest, size }) => ({ mediaType: ociLayerType(mediaType), digest, size })),
    { mediaType: LAYER_TYPE, digest: layer.digest, size: layer.size },
  ];
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: { mediaType: CONFIG_TYPE, digest: digestOf(config), size: config.length },
      layers,
      annotations: { ...annotations, [BASE_NAME]: base.name, [BASE_DIGEST]: base.digest },
    }),
  );
  return { config, manifest };
}
