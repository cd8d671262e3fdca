/** Which service serves a public path. The gateway takes the longest prefix that matches on whole segments. */
export type PublicService = 'org-access' | 'control-plane';

export interface PublicRoute {
  prefix: string;
  service: PublicService;
  /** Taken off the path. */
  stripPrefix?: string;
  /** Bodies go on as they come, of whatever size: the service bounds them itself. */
  boundsBodies?: boolean;
  /** Requests bring a proof of their own: no key is asked for or looked at, and every header goes on. */
  carriesProof?: boolean;
}

export const PUBLIC_ROUTES: readonly PublicRoute[] = [
  { prefix: '/v1/platform', service: 'org-access' },
  { prefix: '/api/v1', service: 'org-access' },
  { prefix: '/scim/v2', service: 'org-access' },
  { prefix: '/auth', service: 'org-access' },
  { prefix: '/login', service: 'org-access' },
  { prefix: '/v1', service: 'control-plane' },
  { prefix: '/v2', service: 'control-plane' },
  { prefix: '/v2/uploads', service: 'control-plane', carriesProof: true },
  // Image tools know registries below the root of a host alone; a layer may be gigabytes.
  { prefix: '/v2/registry', service: 'control-plane', boundsBodies: true },
  { prefix: '/api-host/v1', service: 'control-plane', stripPrefix: '/api-host' },
  { prefix: '/api-host/v2', service: 'control-plane', stripPrefix: '/api-host' },
];

/** Whether the gateway leads to this path of a platform service. */
export function isPublicPath(path: string): boolean {
  return PUBLIC_ROUTES.some(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
}

/** `/deployments/{id or slug}/…` goes to that deployment with the first two segments taken off. */
export const DEPLOYMENTS_PREFIX = '/deployments';

/** A host name: labels of letters, digits and dashes, without a port or the dot of the root. */
export const HOST_NAME_PATTERN =
  '^(?=.{1,253}$)[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*$';

/** Paths of a deployment that need no key (`{name}` stands for one segment). */
export const PUBLIC_DEPLOYMENT_PATHS: readonly string[] = [
  '/',
  '/ok',
  '/docs',
  '/openapi.json',
  '/.well-known/agent-card.json',
  '/a2a/{assistant_id}/.well-known/agent-card.json',
  '/feedback/tokens/{token}',
  '/ui/{agent}/{basename}',
];
