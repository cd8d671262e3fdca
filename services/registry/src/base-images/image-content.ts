import { conforms, OptionalNullable } from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import Type, { type Static, type TSchema } from 'typebox';

/** A part of an image, identified by its digest. */
export const Descriptor = Type.Object({
  mediaType: Type.String(),
  digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  size: Type.Integer({ minimum: 0 }),
});
export type Descriptor = Static<typeof Descriptor>;

export const ImageManifest = Type.Object({ config: Descriptor, layers: Type.Array(Descriptor) });
export type ImageManifest = Static<typeof ImageManifest>;

const Platform = Type.Object({ os: Type.String(), architecture: Type.String(), variant: Type.Optional(Type.String()) });
export const ImageIndex = Type.Object({
  manifests: Type.Array(Type.Object({ ...Descriptor.properties, platform: Type.Optional(Platform) })),
});
export type ImageIndex = Static<typeof ImageIndex>;

/** The configuration of an image. Fields that are not named here are kept. */
export const ImageConfig = Type.Object({
  os: Type.String(),
  architecture: Type.String(),
  created: Type.Optional(Type.String()),
  config: OptionalNullable(
    Type.Object({
      Env: OptionalNullable(Type.Array(Type.String())),
      Labels: OptionalNullable(Type.Record(Type.String(), Type.String())),
    }),
  ),
  rootfs: Type.Object({ type: Type.String(), diff_ids: Type.Array(Type.String()) }),
  history: OptionalNullable(Type.Array(Type.Object({}))),
});
export type ImageConfig = Static<typeof ImageConfig>;

/** Media types of manifests of images, and of lists of images for several architectures. */
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
export const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
export const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** Returns the OCI name of a layer's type. Docker has another name for the same format. */
export function ociLayerType(mediaType: string): string {
  return mediaType === 'application/vnd.docker.image.rootfs.diff.tar.gzip' ? LAYER_TYPE : mediaType;
}

/** @throws BuildError when the value does not conform to the schema */
export function parseJson<S extends TSchema>(schema: S, bytes: Buffer, what: string): Static<S> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    // The check below reports invalid JSON.
  }
  if (!conforms(schema, value)) throw new BuildError(`${what} is not that of an image`);
  return value;
}
