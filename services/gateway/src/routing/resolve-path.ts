import {
  CONSOLE_SERVICE,
  DEPLOYMENTS_PREFIX,
  type GatewayService,
  PROTECTED_RESOURCE_PATH,
  PUBLIC_ROUTES,
} from '@runyard/contracts';
import type { AnswerSource } from '../proxy/origin-rules.ts';

/** The destination of a request, before anything is known about the caller. */
export type Destination =
  | {
      kind: 'service';
      service: GatewayService;
      /** Path and query as the service sees them. */
      target: string;
      /** The prefix of its paths; empty for the console, which has all of its host. */
      prefix: string;
      /** The part that was taken off the path; often nothing. */
      stripped: string;
      limitsBodies: boolean;
      isUpload: boolean;
      isSelfAuthenticating: boolean;
      isSignIn: boolean;
      requiresHttp11: boolean;
    }
  | {
      kind: 'deployment';
      /** It has a path below the platform's host, all of a host of its own, or the root of the platform's. */
      by: 'path' | 'host' | 'root';
      /** Its id, slug or name in the path, or the name of its host; empty at the root. */
      reference: string;
      target: string;
      /** The path without the query. */
      path: string;
    }
  | { kind: 'none' };

/** Returns who answers a request. */
export function sourceOf(destination: Destination): AnswerSource {
  if (destination.kind !== 'deployment') return 'service';
  return destination.by === 'host' ? 'deployment at its host' : 'deployment at the platform';
}

const byLength = [...PUBLIC_ROUTES].sort((a, b) => b.prefix.length - a.prefix.length);

/** Nothing below it is routed: services know each other by such paths. */
const INTERNAL = '/internal';

/**
 * Resolves by the longest prefix that matches on whole segments.
 *
 * @param url a request target: path and query
 * @param options.hasRoot true when a deployment stands at the root, with every path that is none of the platform's
 */
export function resolvePath(url: string, { hasRoot }: { hasRoot: boolean }): Destination {
  const path = pathOf(url);
  if (path === undefined) return { kind: 'none' };
  if (path.startsWith(`${DEPLOYMENTS_PREFIX}/`)) return toDeployment(path, url.slice(path.length));
  if (path.startsWith(RESOURCES_OF_DEPLOYMENTS)) return toMetadata(path, url.slice(path.length));
  const route = byLength.find(
    ({ prefix, isExact, isBehindRoot }) =>
      (isExact ? path === prefix || path === `${prefix}/` : isAtOrBelow(path, prefix)) && !(hasRoot && isBehindRoot),
  );
  if (!route && hasRoot && !isAtOrBelow(path, INTERNAL) && path !== DEPLOYMENTS_PREFIX) {
    return { kind: 'deployment', by: 'root', reference: '', target: url, path };
  }
  if (!route) return { kind: 'none' };
  const { prefix, service, stripPrefix = '' } = route;
  const { limitsBodies = false, isUpload = false } = route;
  const { isSelfAuthenticating = false, isSignIn = false, requiresHttp11 = false } = route;
  const target = url.slice(stripPrefix.length) || '/';
  return {
    kind: 'service',
    service,
    target,
    prefix,
    stripped: stripPrefix,
    limitsBodies,
    isUpload,
    isSelfAuthenticating,
    isSignIn,
    requiresHttp11,
  };
}

/**
 * Resolves a path at a host of a deployment: every path is the deployment's own, and nothing of the platform is served
 * there.
 */
export function resolveAtHost(host: string, url: string): Destination {
  const path = pathOf(url);
  if (path === undefined) return { kind: 'none' };
  return { kind: 'deployment', by: 'host', reference: host, target: url, path };
}

/** Matches what every service has for the rest of the platform, which nobody gets through the gateway. */
const OF_THE_PLATFORM = /^\/(internal|metrics)(\/|$)/i;

/**
 * Resolves a path at the host of the console, which proves its callers by its own cookie. Every path is the console's,
 * but those that services have for each other and for monitoring.
 */
export function resolveAtConsole(url: string): Destination {
  const path = pathOf(url);
  if (path === undefined || OF_THE_PLATFORM.test(path)) return { kind: 'none' };
  return {
    kind: 'service',
    service: CONSOLE_SERVICE,
    target: url,
    prefix: '',
    stripped: '',
    limitsBodies: false,
    isUpload: false,
    isSelfAuthenticating: true,
    isSignIn: false,
    requiresHttp11: false,
  };
}

function isAtOrBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Returns undefined for a path that could lead elsewhere than it says. */
function pathOf(url: string): string | undefined {
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  return path.startsWith('/') && !hasDotSegment(path) ? path : undefined;
}

function toDeployment(path: string, query: string): Destination {
  const end = path.indexOf('/', DEPLOYMENTS_PREFIX.length + 1);
  const reference = path.slice(DEPLOYMENTS_PREFIX.length + 1, end < 0 ? undefined : end);
  if (reference === '') return { kind: 'none' };
  const inner = end < 0 ? '/' : path.slice(end);
  return { kind: 'deployment', by: 'path', reference, target: inner + query, path: inner };
}

/** RFC 9728 has the metadata of a deployment below the platform's host here: before its path, instead of behind it. */
const RESOURCES_OF_DEPLOYMENTS = `${PROTECTED_RESOURCE_PATH}${DEPLOYMENTS_PREFIX}/`;

function toMetadata(path: string, query: string): Destination {
  const deployment = toDeployment(path.slice(PROTECTED_RESOURCE_PATH.length), query);
  if (deployment.kind !== 'deployment') return deployment;
  const inner = PROTECTED_RESOURCE_PATH + (deployment.path === '/' ? '' : deployment.path);
  return { ...deployment, target: inner + query, path: inner };
}

/**
 * Returns whether a path has a dot segment. No client sends `..` by accident: URL parsers resolve it first. Behind the
 * gateway it could turn a public path, or one of another service, into a different one.
 */
function hasDotSegment(path: string): boolean {
  return path.includes('/') && /(^|\/|%2f|\\|%5c)(\.|%2e){1,2}(\/|%2f|\\|%5c|$)/i.test(path);
}
