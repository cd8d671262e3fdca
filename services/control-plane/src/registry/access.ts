import { PROJECT_REPOSITORY, REGISTRY_USER } from '../images/registry-address.ts';
import { type Exchange, isRead, send } from './exchange.ts';
import { RegistryError } from './registry-error.ts';
import type { HeldGrant, RegistryGrant } from './registry-tokens.ts';

const BEARER_LIFETIME_MS = 15 * 60_000;

/** Returns the grant of the request's token, which is a bearer token or the password of the well-known user. */
export function grantOf({ dependencies, req }: Exchange): HeldGrant {
  const [scheme = '', value = ''] = (req.headers.authorization ?? '').split(' ');
  const token =
    scheme.toLowerCase() === 'bearer' ? value : scheme.toLowerCase() === 'basic' ? passwordOf(value) : undefined;
  const grant = token === undefined ? null : dependencies.tokens.open(token);
  if (grant) return grant;
  throw new RegistryError('UNAUTHORIZED', 'A push token of the deployment is needed.');
}

/**
 * Checks that the grant covers the request.
 *
 * @param name the requested repository
 * @throws RegistryError DENIED unless the grant is for this operation on this deployment, which has or accepts images
 */
export async function requireGrant(
  exchange: Exchange,
  grant: RegistryGrant,
  { deploymentId, name }: { deploymentId: string; name?: string },
): Promise<void> {
  const { store } = exchange.dependencies;
  // Only the platform itself writes to the repository of project images.
  const mayWrite = grant.mayPush && name !== PROJECT_REPOSITORY;
  const isItsOwn = grant.deploymentId === deploymentId && (grant.name === undefined || grant.name === name);
  const isAllowed = isItsOwn && (mayWrite || isRead(exchange));
  const look = isRead(exchange) ? store.mayHaveImages(deploymentId) : store.acceptsImages(deploymentId);
  if (!(await look) || !isAllowed) {
    throw new RegistryError('DENIED', 'This token is not for that.');
  }
}

/** Issues a bearer token for a password. Image tools then send it with each request. It expires with the password. */
export function sendToken(exchange: Exchange, grant: HeldGrant): void {
  if (exchange.req.method !== 'GET') throw new RegistryError('UNSUPPORTED', 'Ask for a token with GET.');
  const now = Date.now();
  const expiresAt = Math.min(now + BEARER_LIFETIME_MS, grant.expiresAt);
  const token = exchange.dependencies.tokens.issueUntil(grant, expiresAt);
  const expires_in = Math.floor((expiresAt - now) / 1000);
  send(exchange, 200, {
    headers: { 'cache-control': 'no-store' },
    body: { token, access_token: token, expires_in, issued_at: new Date().toISOString() },
  });
}

function passwordOf(basic: string): string | undefined {
  const [user, ...password] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return user === REGISTRY_USER ? password.join(':') : undefined;
}
