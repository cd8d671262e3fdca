import { isMountPrefix, MCP_PATH, PUBLIC_DEPLOYMENT_PATHS } from '@runyard/contracts';

const METRICS = '/metrics';

/**
 * Returns whether a path of a deployment needs no key. A deployment with a mount prefix has its keyless paths below it;
 * they are compared as they were sent, as its own server does: an encoded, doubled or otherwise spelled path needs a
 * key.
 *
 * @param path without the query, and without dot segments
 * @param mountPrefix as the deployment reports it; an ambiguous one opens nothing
 */
export function isKeyless(path: string, mountPrefix: string | null | undefined): boolean {
  return isListed(patterns, pathBelow(mountPrefix, path) ?? path);
}

/** Returns whether a path of a deployment is that of its metrics, which are served at its root and below its prefix. */
export function isMetrics(path: string, mountPrefix: string | null | undefined): boolean {
  return path === METRICS || pathBelow(mountPrefix, path) === METRICS;
}

/** Returns whether a path of a deployment is that of its MCP server, also with a slash at its end. */
export function isMcp(path: string, mountPrefix: string | null | undefined): boolean {
  const below = pathBelow(mountPrefix, path) ?? path;
  return below === MCP_PATH || below === `${MCP_PATH}/`;
}

/** Returns the path without the mount prefix; undefined where it is not below it. */
export function pathBelow(prefix: string | null | undefined, path: string): string | undefined {
  if (prefix == null || !isMountPrefix(prefix)) return undefined;
  if (path === prefix) return '/';
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}

const patterns = PUBLIC_DEPLOYMENT_PATHS.map((template) => template.split('/'));

/** Returns whether a path matches one of the templates, which are split into segments. */
export function isListed(patterns: readonly (readonly string[])[], path: string): boolean {
  const segments = path.split('/');
  return patterns.some(
    (pattern) =>
      pattern.length === segments.length &&
      pattern.every((part, index) => (part.startsWith('{') ? segments[index] !== '' : part === segments[index])),
  );
}
