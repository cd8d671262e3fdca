import { type HeldGrant, PROJECT_REPOSITORY, REGISTRY_USER, type RegistryGrant } from '@runyard/image-registry';
import { RegistryError } from '../registry-error.ts';
import type { ImageOwner } from '../stored-images/image-owner.ts';
import { type Exchange, isRead, send } from './exchange.ts';

/** Matches the form of tokens of older releases, which control-plane encrypted. */
const FORMER_TOKEN = /^s1\.[0-9a-f]{8}\.[\w-]{40,1000}$/;
const BEARER_LIFETIME_MS = 15 * 60_000;

/** Returns the grant of the request's token, which is a bearer token or the password of the well-known user. */
export function grantOf(exchange: Exchange): HeldGrant {
  const token = tokenOf(exchange);
  const grant = token === undefined ? null : exchange.dependencies.tokens.open(token);
  if (grant) return grant;
  throw new RegistryError('UNAUTHORIZED', 'A push token of the deployment is needed.');
}

/** Returns the grant of a password that is to be exchanged, which may be of an older release. @throws UnavailableError */
export async function grantOfPassword(exchange: Exchange): Promise<HeldGrant> {
  const token = tokenOf(exchange);
  const isFormer = token !== undefined && FORMER_TOKEN.test(token);
  const former = isFormer ? await exchange.dependencies.controlPlane.openFormerToken(token) : null;
  return former ?? grantOf(exchange);
}

function tokenOf({ req }: Exchange): string | undefined {
  const [scheme = '', value = ''] = (req.headers.authorization ?? '').split(' ');
  if (scheme.toLowerCase() === 'bearer') return value;
  return scheme.toLowerCase() === 'basic' ? passwordOf(value) : undefined;
}

/**
 * Checks that the grant covers the request. Nobody is asked about a request that reads: what is there may be read by
 * whoever has a token for it, and of a deleted deployment nothing is there.
 *
 * @param name the requested repository
 * @returns for whom the request stores something; null for one that reads
 * @throws RegistryError DENIED unless the grant is for this operation on this deployment, which may have images;
 * UnavailableError when control-plane does not say so
 */
export async function requireGrant(
  exchange: Exchange,
  grant: RegistryGrant,
  { deploymentId, name }: { deploymentId: string; name?: string },
): Promise<ImageOwner | null> {
  const isItsOwn = grant.deploymentId === deploymentId && (grant.name === undefined || grant.name === name);
  if (isItsOwn && isRead(exchange)) return null;
  // Only builders write to this repository, with tokens for nothing else.
  const isOfPlatform = name === PROJECT_REPOSITORY;
  const mayWrite = isItsOwn && grant.mayPush && (!isOfPlatform || grant.name === name);
  const owner = mayWrite ? await exchange.dependencies.owners.find(deploymentId, isOfPlatform) : null;
  if (owner) return owner;
  throw new RegistryError('DENIED', 'This token is not for that.');
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
