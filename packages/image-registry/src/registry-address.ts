import { parseImageReference } from './image-reference.ts';

/** The registry's prefix below `/v2/`. No path of another service begins with it. */
export const REGISTRY_SEGMENT = 'registry';
/** The repository for images that the platform makes of a deployment's projects. All others are for pushed images. */
export const PROJECT_REPOSITORY = 'runyard-project';
/** The user name for a login with a token. Other platforms' registries use the same. */
export const REGISTRY_USER = 'oauth2accesstoken';

const COMPONENT = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const ID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const NAME_LENGTH_MAX = 200;
const PATH = new RegExp(
  `^/v2/${REGISTRY_SEGMENT}/(${ID})/(${COMPONENT}(?:/${COMPONENT})*)` +
    '/(?:(blobs/uploads)/?([^/]*)|(blobs|manifests|referrers)/([^/]+)|(tags/list))$',
);

/** The repository of a deployment. */
export interface Place {
  deploymentId: string;
  name: string;
}

/** Returns the repository's name for clients. */
export const repositoryName = ({ deploymentId, name }: Place) => `${REGISTRY_SEGMENT}/${deploymentId}/${name}`;
export const pathOf = (place: Place) => `/v2/${repositoryName(place)}`;

export type RegistryResource =
  | { kind: 'ping' }
  | { kind: 'token' }
  | { kind: 'catalog' }
  | { kind: 'upload'; deploymentId: string; name: string; id: string }
  | { kind: 'blob'; deploymentId: string; name: string; digest: string }
  | { kind: 'manifest'; deploymentId: string; name: string; reference: string }
  | { kind: 'referrers'; deploymentId: string; name: string; subject: string }
  | { kind: 'tags'; deploymentId: string; name: string }
  | { kind: 'unknown' };

/** Returns the registry's resource at a path; undefined when the path does not belong to the registry. */
export function resourceAt(path: string): RegistryResource | undefined {
  if (path === '/v2' || path === '/v2/') return { kind: 'ping' };
  if (path === `/v2/${REGISTRY_SEGMENT}/token`) return { kind: 'token' };
  if (path === '/v2/_catalog') return { kind: 'catalog' };
  if (path !== `/v2/${REGISTRY_SEGMENT}` && !path.startsWith(`/v2/${REGISTRY_SEGMENT}/`)) return undefined;
  const [, deploymentId, name, upload, id, kind, reference] = PATH.exec(path) ?? [];
  if (deploymentId === undefined || name === undefined || name.length > NAME_LENGTH_MAX) return { kind: 'unknown' };
  const place = { deploymentId, name };
  if (upload !== undefined) return { kind: 'upload', ...place, id: id ?? '' };
  if (kind === 'blobs') return { kind: 'blob', ...place, digest: decode(reference!) };
  if (kind === 'manifests') return { kind: 'manifest', ...place, reference: decode(reference!) };
  if (kind === 'referrers') return { kind: 'referrers', ...place, subject: decode(reference!) };
  return { kind: 'tags', ...place };
}

/** The public address of the registry. */
export class RegistryAddress {
  /** `https://host[:port]`: image tools support registries only at the root of a host. */
  readonly origin: string;
  /** `host[:port]` */
  readonly host: string;

  constructor(url: string) {
    const { origin, host } = new URL(url);
    this.origin = origin;
    this.host = host;
  }

  /** Returns the prefix of the deployment's image names, without a scheme. */
  imagesOf(deploymentId: string): string {
    return `${this.host}/${REGISTRY_SEGMENT}/${deploymentId}`;
  }

  /** Returns the image's repository within the deployment's; undefined when it is not in them. */
  repositoryWithin(deploymentId: string, imageUri: string): string | undefined {
    const reference = parseImageReference(imageUri);
    const own = `${REGISTRY_SEGMENT}/${deploymentId}/`;
    if (reference?.host !== this.host || !reference.repository.startsWith(own)) return undefined;
    return reference.repository.slice(own.length);
  }

  /** Returns whether an image's name belongs to this registry. */
  holds(imageUri: string): boolean {
    return imageUri.startsWith(`${this.host}/${REGISTRY_SEGMENT}/`);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
