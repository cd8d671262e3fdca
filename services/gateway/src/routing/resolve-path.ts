import { DEPLOYMENTS_PREFIX, PUBLIC_DEPLOYMENT_PATHS, PUBLIC_ROUTES, type PublicService } from '@runyard/contracts';

/** Where a public path leads, before anything is known about the caller. */
export type Destination =
  | {
      kind: 'service';
      service: PublicService;
      /** Path and query as the service sees them. */
      target: string;
      prefix: string;
      /** What was taken off the path; often nothing. */
      stripped: string;
      boundsBodies: boolean;
      carriesProof: boolean;
    }
  | { kind: 'deployment'; reference: string; target: string /** Needs no key. */; isPublic: boolean }
  | { kind: 'none' };

const byLength = [...PUBLIC_ROUTES].sort((a, b) => b.prefix.length - a.prefix.length);

/** Takes the longest prefix that matches on whole segments. `url` is a request target: path and query. */
export function resolvePath(url: string): Destination {
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  if (!path.startsWith('/') || hasDotSegment(path)) return { kind: 'none' };
  if (path.startsWith(`${DEPLOYMENTS_PREFIX}/`)) return toDeployment(path, url.slice(path.length));
  for (const { prefix, service, stripPrefix = '', boundsBodies = false, carriesProof = false } of byLength) {
    if (path !== prefix && !path.startsWith(`${prefix}/`)) continue;
    const target = url.slice(stripPrefix.length) || '/';
    return { kind: 'service', service, target, prefix, stripped: stripPrefix, boundsBodies, carriesProof };
  }
  return { kind: 'none' };
}

function toDeployment(path: string, query: string): Destination {
  const end = path.indexOf('/', DEPLOYMENTS_PREFIX.length + 1);
  const reference = path.slice(DEPLOYMENTS_PREFIX.length + 1, end < 0 ? undefined : end);
  if (reference === '') return { kind: 'none' };
  const inner = end < 0 ? '/' : path.slice(end);
  return { kind: 'deployment', reference, target: inner + query, isPublic: isPublicPath(inner) };
}

const publicPatterns = PUBLIC_DEPLOYMENT_PATHS.map((template) => template.split('/'));

function isPublicPath(path: string): boolean {
  const segments = path.split('/');
  return publicPatterns.some(
    (pattern) =>
      pattern.length === segments.length &&
      pattern.every((part, index) => (part.startsWith('{') ? segments[index] !== '' : part === segments[index])),
  );
}

/**
 * No client sends `..` by accident: URL parsers resolve it first. Behind the gateway it could turn a public path, or one
 * of another service, into what it is not.
 */
function hasDotSegment(path: string): boolean {
  return path.includes('/') && /(^|\/|%2f|\\|%5c)(\.|%2e){1,2}(\/|%2f|\\|%5c|$)/i.test(path);
}
