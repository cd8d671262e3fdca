/** The services of the platform that serve public paths. Each is an audience of principal tokens. */
export const PUBLIC_SERVICES = ['org-access', 'control-plane', 'oauth-broker', 'registry', 'run-history'] as const;
/** The service that serves a public path. The gateway takes the longest prefix that matches on whole segments. */
export type PublicService = (typeof PUBLIC_SERVICES)[number];

/** The service at a host name of its own, for browsers alone. It is no audience of principal tokens: nobody calls it as one. */
export const CONSOLE_SERVICE = 'console';
/** The service to which the gateway leads a request, by a public path or by the host. */
export type GatewayService = PublicService | typeof CONSOLE_SERVICE;

export interface PublicRoute {
  prefix: string;
  /** True when nothing below the prefix belongs to the route. It comes before one with the same prefix. */
  isExact?: boolean;
  service: PublicService;
  /** The prefix to remove from the path. */
  stripPrefix?: string;
  /** True when the gateway passes bodies of any size: the service limits them itself. */
  limitsBodies?: boolean;
  /** True where archives arrive: the service itself limits how long that takes, also for callers whom nobody knows. */
  isUpload?: boolean;
  /** True when requests prove their rights themselves: the gateway checks no key and passes every header on. */
  isSelfAuthenticating?: boolean;
  /** True for where people sign in and out: a session that may not act here counts as none instead of a refusal. */
  isSignIn?: boolean;
  /** True when requests of HTTP/1.0 are refused. */
  requiresHttp11?: boolean;
  /** True when the path is that of a deployment at the root, where one stands. */
  isBehindRoot?: boolean;
}

export const PUBLIC_ROUTES: readonly PublicRoute[] = [
  { prefix: '/v1/platform', service: 'org-access' },
  { prefix: '/api/v1', service: 'org-access' },
  { prefix: '/api/v1/sso', service: 'org-access', isSelfAuthenticating: true },
  { prefix: '/api/v1/oauth', service: 'org-access', isSelfAuthenticating: true },
  { prefix: '/auth/v1/sso', service: 'org-access', isSelfAuthenticating: true },
  // Identity providers send a SCIM token, which only org-access knows.
  { prefix: '/scim/v2', service: 'org-access', isSelfAuthenticating: true, requiresHttp11: true },
  {
    prefix: '/api/scim/v2',
    service: 'org-access',
    stripPrefix: '/api',
    isSelfAuthenticating: true,
    requiresHttp11: true,
  },
  // Programs get tokens of people here; clients of self-hosted installations ask below `/api`.
  { prefix: '/oauth', service: 'org-access', isSelfAuthenticating: true },
  { prefix: '/api/oauth', service: 'org-access', stripPrefix: '/api', isSelfAuthenticating: true },
  { prefix: '/.well-known/oauth-authorization-server', service: 'org-access', isSelfAuthenticating: true },
  // The services describe themselves to anybody: the control plane beside its `/v2`, org-access beside its `/api/v1`, and
  // the others below their own path.
  ...['/docs', '/openapi.json'].flatMap((path): PublicRoute[] => [
    { prefix: path, service: 'control-plane', isSelfAuthenticating: true, isBehindRoot: true },
    { prefix: `/api-host${path}`, service: 'control-plane', stripPrefix: '/api-host', isSelfAuthenticating: true },
    { prefix: `/api${path}`, service: 'org-access', stripPrefix: '/api', isSelfAuthenticating: true },
    { prefix: `/v2/auth${path}`, service: 'oauth-broker', stripPrefix: '/v2/auth', isSelfAuthenticating: true },
    { prefix: `/v2/runs${path}`, service: 'run-history', stripPrefix: '/v2/runs', isSelfAuthenticating: true },
  ]),
  { prefix: '/auth', service: 'org-access', isSignIn: true },
  { prefix: '/login', service: 'org-access', isSignIn: true },
  { prefix: '/v1', service: 'control-plane' },
  // Image tools accept registries only at the root of a host, and begin with its root.
  { prefix: '/v2', service: 'registry', isExact: true },
  { prefix: '/v2/_catalog', service: 'registry' },
  // A layer may have gigabytes.
  { prefix: '/v2/registry', service: 'registry', limitsBodies: true, isUpload: true },
  { prefix: '/v2', service: 'control-plane' },
  { prefix: '/v2/auth', service: 'oauth-broker' },
  { prefix: '/v2/runs', service: 'run-history' },
  { prefix: '/v2/uploads', service: 'control-plane', isSelfAuthenticating: true, isUpload: true },
  { prefix: '/api-host/v1', service: 'control-plane', stripPrefix: '/api-host' },
  { prefix: '/api-host/v2', service: 'control-plane', stripPrefix: '/api-host' },
  { prefix: '/api-host/v2/auth', service: 'oauth-broker', stripPrefix: '/api-host' },
  { prefix: '/api-host/v2/runs', service: 'run-history', stripPrefix: '/api-host' },
];

/** Returns whether the gateway routes this path to a platform service. */
export function isPublicPath(path: string): boolean {
  return PUBLIC_ROUTES.some(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
}

/** `/deployments/{id or slug}/…` is routed to that deployment without the first two segments. */
export const DEPLOYMENTS_PREFIX = '/deployments';

/** The content of the file that tells the gateway of a machine of one person what stands at the root of its host. */
export interface RootFile {
  deployment_id: string;
  /** The key as which requests of that machine count that show no credentials. Left out: each request needs a key. */
  api_key?: string;
}

/** Matches a host name: labels of letters, digits and dashes, without a port or the final dot. */
export const HOST_NAME_PATTERN =
  '^(?=.{1,253}$)[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*$';

/** The path of a deployment's MCP server, below its mount prefix. */
export const MCP_PATH = '/mcp';

/**
 * Returns whether a path of a deployment is the address of its MCP server, or that of all it serves.
 *
 * @param path without a slash at its end
 */
export function isMcpResource(path: string, mountPrefix: string | null | undefined): boolean {
  const base = mountPrefix ?? '';
  return path === base || path === base + MCP_PATH;
}

/** Says where clients of a deployment get tokens (RFC 9728); the path of the resource follows. */
export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource';

/** Paths of a deployment that need no key (`{name}` stands for one segment). */
export const PUBLIC_DEPLOYMENT_PATHS: readonly string[] = [
  '/',
  '/ok',
  '/docs',
  '/openapi.json',
  '/.well-known/agent-card.json',
  '/.well-known/agent-card-keys.json',
  PROTECTED_RESOURCE_PATH,
  `${PROTECTED_RESOURCE_PATH}${MCP_PATH}`,
  '/a2a/{assistant_id}/.well-known/agent-card.json',
  '/a2a/{assistant_id}/1.0/.well-known/agent-card.json',
  '/feedback/tokens/{token}',
  '/ui/{agent}/{basename}',
];
