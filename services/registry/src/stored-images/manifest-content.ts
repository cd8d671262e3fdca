import { conforms } from '@runyard/contracts';
import Type, { type Static } from 'typebox';
import { RegistryError } from '../registry-error.ts';

const IMAGE_TYPES = new Set([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]);
export const LIST_TYPE = 'application/vnd.oci.image.index.v1+json';
const LIST_TYPES = new Set([LIST_TYPE, 'application/vnd.docker.distribution.manifest.list.v2+json']);

/** Matches media types (RFC 6838, section 4.2). */
export const MEDIA_TYPE = /^[a-z0-9][\w!#$&^.+-]{0,126}\/[a-z0-9][\w!#$&^.+-]{0,126}$/i;
/** Accepts any algorithm, because a manifest may refer to content that is not stored here. */
const Digest = Type.String({ pattern: '^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[A-Za-z0-9=_-]+$', maxLength: 200 });

const Descriptor = Type.Object({
  digest: Digest,
  mediaType: Type.Optional(Type.String()),
  urls: Type.Optional(Type.Array(Type.String())),
});
const Common = Type.Object({
  mediaType: Type.Optional(Type.String()),
  artifactType: Type.Optional(Type.String()),
  subject: Type.Optional(Type.Object({ digest: Digest })),
  annotations: Type.Optional(Type.Record(Type.String(), Type.String())),
});
const Image = Type.Object({ config: Descriptor, layers: Type.Array(Descriptor) });
const ImageList = Type.Object({ manifests: Type.Array(Descriptor) });

/** The parsed content of a manifest. */
export interface ManifestContent {
  mediaType: string;
  /** Its parts, which have to exist. */
  parts: { kind: 'blob' | 'manifest'; digests: string[] };
  /** The digest of the manifest that it refers to. */
  subject: string | null;
  /** The type of content that a referrer has. */
  artifactType: string | null;
  annotations: Record<string, string> | undefined;
}

/**
 * @param contentType of the request; without one the manifest's own media type counts
 * @throws RegistryError MANIFEST_INVALID
 */
export function parseImageManifest(content: Buffer, contentType?: string): ManifestContent {
  const manifest = parse(content);
  if (!conforms(Common, manifest)) throw invalid('Its fields are not those of a manifest.');
  const sent = contentType?.split(';')[0]?.trim();
  const mediaType = sent || manifest.mediaType;
  if (sent && manifest.mediaType !== undefined && manifest.mediaType !== sent) {
    throw invalid(`It was sent as ${sent} and says that it is ${manifest.mediaType}.`);
  }
  if (mediaType === undefined) throw invalid('It does not say of which type it is.');
  const common = { mediaType, subject: manifest.subject?.digest ?? null, annotations: manifest.annotations };
  if (IMAGE_TYPES.has(mediaType) && conforms(Image, manifest)) {
    const { config, layers } = manifest;
    // Layers with URLs of their own are stored elsewhere.
    const own = [config, ...layers].filter(({ urls = [] }) => urls.length === 0);
    const artifactType = checkArtifactType(manifest.artifactType || config.mediaType);
    return { ...common, artifactType, parts: { kind: 'blob', digests: digestsOf(own) } };
  }
  if (LIST_TYPES.has(mediaType) && conforms(ImageList, manifest)) {
    const artifactType = checkArtifactType(manifest.artifactType);
    return { ...common, artifactType, parts: { kind: 'manifest', digests: digestsOf(manifest.manifests) } };
  }
  throw invalid('This is no manifest of an image or of a list of images.');
}

function parse(content: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(content.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below covers invalid JSON.
  }
  throw invalid('A manifest is a JSON object.');
}

function checkArtifactType(artifactType: string | undefined): string | null {
  if (!artifactType) return null;
  if (MEDIA_TYPE.test(artifactType)) return artifactType;
  throw invalid('Its artifact type, or the type of its configuration, is no media type.');
}

const digestsOf = (descriptors: Static<typeof Descriptor>[]) => [...new Set(descriptors.map(({ digest }) => digest))];
const invalid = (message: string) => new RegistryError('MANIFEST_INVALID', message);
