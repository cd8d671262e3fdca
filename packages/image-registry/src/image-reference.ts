import { DIGEST } from './digest.ts';

/** The location of an image: registry, repository, and tag or digest. */
export interface ImageReference {
  /** `host[:port]` */
  host: string;
  repository: string;
  /** A tag or a digest. */
  version: string;
}

const DOCKER_HUB = 'registry-1.docker.io';
const NAME = /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;
const HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?$/;
const LOCAL_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/;

/** Parses an image's name as image tools do: `[host/]name[:tag][@digest]`. Returns null for an invalid name. */
export function parseImageReference(text: string): ImageReference | null {
  const [named = '', digest] = text.split('@');
  const slash = named.indexOf('/');
  const first = slash < 0 ? '' : named.slice(0, slash);
  const hasHost = /[.:]/.test(first) || first === 'localhost';
  const [path = '', tag = 'latest'] = (hasHost ? named.slice(slash + 1) : named).split(':');
  const isOnHub = !hasHost || first === 'docker.io';
  const host = isOnHub ? DOCKER_HUB : first;
  const isWhole = NAME.test(path) && HOST.test(host) && /^\w[\w.-]{0,127}$/.test(tag);
  if (!isWhole || (digest !== undefined && !DIGEST.test(digest))) return null;
  const repository = isOnHub && !path.includes('/') ? `library/${path}` : path;
  return { host, repository, version: digest ?? tag };
}

/** Image tools use plain HTTP only for registries of their own machine. */
export function originOf({ host }: ImageReference): string {
  return `${LOCAL_HOST.test(host) ? 'http' : 'https'}://${host}`;
}
