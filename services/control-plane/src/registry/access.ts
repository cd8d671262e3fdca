import { type Exchange, isRead, send } from './exchange.ts';
import { PROJECT_REPOSITORY, REGISTRY_USER } from './registry-address.ts';
import { RegistryError } from './registry-error.ts';
import type { HeldGrant, RegistryGrant } from './registry-tokens.ts';

const BEARER_LIFETIME_MS = 15 * 60_000;

/** What the credential of a request allows; a token is the password of the well-known user, or a bearer. */
export function grantOf({ parts, req }: Exchange): HeldGrant {
  const [scheme = '', value = ''] = (req.headers.authorization ?? '').split(' ');
  const token =
    scheme.toLowerCase() === 'bearer' ? value : scheme.toLowerCase() === 'basic' ? passwordOf(value) : undefined;
  const grant = token === undefined ? null : parts.tokens.open(token);
  if (grant) return grant;
  throw new RegistryError('UNAUTHORIZED', 'A push token of the deployment is needed.');
}

/**
 * @param name the repository that is asked for
 * @throws RegistryError DENIED unless the grant is for this deployment, which has or takes images, and for what is asked
 */
export async function allow(
  exchange: Exchange,
  grant: RegistryGrant,
  { deploymentId, name }: { deploymentId: string; name?: string },
): Promise<void> {
  const { store } = exchange.parts;
  // What is in there was built by the platform, and by nobody else.
  const mayWrite = grant.mayPush && name !== PROJECT_REPOSITORY;
  const isItsOwn = grant.deploymentId === deploymentId && (grant.name === undefined || grant.name === name);
  const isAllowed = isItsOwn && (mayWrite || isRead(exchange));
  const look = isRead(exchange) ? store.mayHaveImages(deploymentId) : store.takesImages(deploymentId);
  if (!(await look) || !isAllowed) {
    throw new RegistryError('DENIED', 'This token is not for that.');
  }
}

/** Image tools trade a password for a bearer token, which they then show with each request. It ends with the password. */
export function giveToken(exchange: Exchange, grant: HeldGrant): void {
  if (exchange.req.method !== 'GET') throw new RegistryError('UNSUPPORTED', 'Ask for a token with GET.');
  const lifetimeMs = Math.min(BEARER_LIFETIME_MS, grant.expiresAt - Date.now());
  const token = exchange.parts.tokens.issue(grant, lifetimeMs);
  const expires_in = Math.floor(lifetimeMs / 1000);
  send(exchange, 200, {
    headers: { 'cache-control': 'no-store' },
    body: { token, access_token: token, expires_in, issued_at: new Date().toISOString() },
  });
}

function passwordOf(basic: string): string | undefined {
  const [user, ...password] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return user === REGISTRY_USER ? password.join(':') : undefined;
}
