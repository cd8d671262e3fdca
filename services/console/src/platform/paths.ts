import { DEPLOYMENTS_PREFIX } from '@runyard/contracts';

/** The console's path below which its pages ask the platform. */
export const PLATFORM_PREFIX = '/platform';

/** Pages ask for the API of the platform, and for deployments. Pages and sign-in of the platform are not among it. */
const ASKED = ['/api/v1', '/v1/platform', '/v1/projects', '/v2', DEPLOYMENTS_PREFIX] as const;
const ASKED_EXACTLY: ReadonlySet<string> = new Set(['/auth/public']);
/** They answer with a secret that stands for the person, which no script of a page needs. */
const SECRETS: ReadonlySet<string> = new Set([
  '/api/v1/sessions/current/access-token',
  '/api/v1/sessions/current/refresh',
]);

const BASE = 'http://gateway.invalid';

/**
 * Returns the path and query at the gateway of what a page asks for; undefined for what pages of the console have no
 * reason to ask.
 *
 * @param url a request target below `/platform`
 */
export function platformTarget(url: string): string | undefined {
  const target = url.slice(PLATFORM_PREFIX.length);
  const path = target.split('?', 1)[0]!;
  // A path that leads elsewhere than it says, as one with dots, would be another one at the gateway.
  if (!URL.canParse(path, BASE) || new URL(path, BASE).href !== BASE + path) return undefined;
  if (ASKED_EXACTLY.has(path)) return target;
  if (SECRETS.has(path.toLowerCase()) || !ASKED.some((prefix) => path.startsWith(`${prefix}/`))) return undefined;
  return target;
}
