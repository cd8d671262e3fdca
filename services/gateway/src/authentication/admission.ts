import type { IncomingMessage } from 'node:http';
import type { DeploymentRoute, PrincipalClaims, PublicService } from '@runyard/contracts';
import { ForbiddenError, NotFoundError, UnauthorizedError } from '@runyard/service-kit';
import { credentialsOf, looksLikePlatformKey } from './credentials.ts';
import type { KeyChecker } from './guess-guard.ts';
import type { KeyCheckRequest, KeyCheckResult } from './key-check.ts';

/** The decision that a request may pass, and as whom. */
export interface AdmittedCaller {
  /** Signed by org-access for the service that the request goes to; absent for a caller the platform does not know. */
  principal?: { token: string; claims: PrincipalClaims };
  /** The credentials that were the platform's own and are not forwarded. */
  consumes: 'x-api-key' | 'authorization' | 'both' | 'none';
  recheck?(): KeyCheckResult | Promise<KeyCheckResult>;
}

/** Admits a request unchanged, for others to judge. */
export const UNAUTHENTICATED: AdmittedCaller = { consumes: 'none' };
const UNKNOWN_DEPLOYMENT = 'Deployment not found';
/** The audience of a token that nobody accepts: it is requested only to check a key. */
const NO_AUDIENCE = 'gateway';

/**
 * Decides whether a request may go to a deployment. A deployment that does not exist and one that the key does not
 * reach are the same 404. One with an auth handler of its own gets every request without a key of the platform,
 * unchanged.
 */
export async function admitToDeployment(
  req: IncomingMessage,
  route: DeploymentRoute | undefined,
  check: KeyChecker,
): Promise<AdmittedCaller> {
  const { apiKey, bearer } = credentialsOf(req.headers);
  if (route?.has_custom_auth) return admitToCustomAuth(req, route, check);
  const key = apiKey ?? bearer;
  if (key === undefined) throw new UnauthorizedError('Missing authentication headers', { code: 'credentials_missing' });
  const request = keyCheckFor(key, route);
  const answer = await check(request);
  if (answer.kind === 'refused') throw new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
  if (!route || !reaches(answer, route)) throw new NotFoundError(UNKNOWN_DEPLOYMENT, { code: 'deployment_not_found' });
  return admit(answer, request, check, consumedCredentials(apiKey, bearer));
}

/** Returns the workspace in which a request's platform key acts; undefined for other callers. */
export async function findWorkspaceOfKey(req: IncomingMessage, check: KeyChecker): Promise<string | undefined> {
  const { apiKey, bearer } = credentialsOf(req.headers);
  const key = [apiKey, bearer].find(looksLikePlatformKey);
  const answer = key === undefined ? undefined : await check({ key, audience: NO_AUDIENCE });
  return answer?.kind === 'good' ? answer.claims.workspace_id : undefined;
}

/** Requires the route for a path of a deployment that needs no key. @throws NotFoundError */
export function requireRoute(route: DeploymentRoute | undefined): DeploymentRoute {
  if (!route) throw new NotFoundError(UNKNOWN_DEPLOYMENT, { code: 'deployment_not_found' });
  return route;
}

/** Decides whether a request may go to one of the platform's services; the service decides what it may do there. */
export async function admitToService(
  req: IncomingMessage,
  service: PublicService,
  check: KeyChecker,
): Promise<AdmittedCaller> {
  const { apiKey, bearer } = credentialsOf(req.headers);
  const key = apiKey ?? (looksLikePlatformKey(bearer) ? bearer : undefined);
  // Sign-ins, and later sessions, are the service's to judge.
  if (key === undefined) return UNAUTHENTICATED;
  const workspaceId = req.headers['x-tenant-id'];
  const request = {
    key,
    audience: service,
    ...(typeof workspaceId === 'string' && workspaceId !== '' ? { workspaceId } : {}),
  };
  const answer = await check(request);
  if (answer.kind === 'refused') throw new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
  if (answer.kind === 'other_workspace') throw new ForbiddenError(answer.detail, { code: 'workspace_out_of_reach' });
  return admit(answer, request, check, consumedCredentials(apiKey, bearer));
}

async function admitToCustomAuth(
  req: IncomingMessage,
  route: DeploymentRoute,
  check: KeyChecker,
): Promise<AdmittedCaller> {
  const { apiKey, bearer } = credentialsOf(req.headers);
  if (looksLikePlatformKey(apiKey)) {
    const request = keyCheckFor(apiKey, route);
    const answer = await check(request);
    if (answer.kind === 'refused') throw new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
    if (!reaches(answer, route)) throw new NotFoundError(UNKNOWN_DEPLOYMENT, { code: 'deployment_not_found' });
    return admit(answer, request, check, consumedCredentials(apiKey, bearer));
  }
  if (!looksLikePlatformKey(bearer)) return UNAUTHENTICATED;
  const request = keyCheckFor(bearer, route);
  const answer = await check(request);
  // The handler may still know a bearer that the platform does not know.
  return reaches(answer, route) ? admit(answer, request, check, 'authorization') : UNAUTHENTICATED;
}

function keyCheckFor(key: string, route: DeploymentRoute | undefined): KeyCheckRequest {
  if (!route) return { key, audience: NO_AUDIENCE };
  return { key, audience: `deployment:${route.deployment_id}`, workspaceId: route.workspace_id };
}

function reaches(answer: KeyCheckResult, route: DeploymentRoute): answer is KeyCheckResult & { kind: 'good' } {
  return answer.kind === 'good' && answer.claims.workspace_id === route.workspace_id;
}

function admit(
  { token, claims }: KeyCheckResult & { kind: 'good' },
  request: KeyCheckRequest,
  check: KeyChecker,
  consumes: AdmittedCaller['consumes'],
): AdmittedCaller {
  return { principal: { token, claims }, consumes, recheck: () => check(request) };
}

function consumedCredentials(apiKey: string | undefined, bearer: string | undefined): AdmittedCaller['consumes'] {
  if (apiKey === undefined) return 'authorization';
  return looksLikePlatformKey(bearer) ? 'both' : 'x-api-key';
}
