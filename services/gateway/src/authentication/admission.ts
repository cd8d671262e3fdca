import type { IncomingMessage } from 'node:http';
import {
  type DeploymentRoute,
  isUuid,
  type PrincipalClaims,
  type PublicService,
  SESSION_TOKEN_PREFIX,
} from '@runyard/contracts';
import { type AppError, ForbiddenError, NotFoundError, UnauthorizedError } from '@runyard/service-kit';
import type { PublicAddress } from '../requests/same-origin.ts';
import {
  credentialsOf,
  looksLikeAccessToken,
  looksLikeMcpToken,
  looksLikePlatformCredential,
  requireOwnPage,
  sessionTokenIn,
} from './credentials.ts';
import type { KeyChecker, KeyCheckRequest, KeyCheckResult } from './key-check.ts';

/** The decision that a request may pass, and as whom. */
export interface AdmittedCaller {
  /** Signed by org-access for the service that the request goes to; absent for a caller the platform does not know. */
  principal?: { token: string; claims: PrincipalClaims };
  /** The credentials that were the platform's own and are not forwarded. */
  consumes: 'x-api-key' | 'authorization' | 'both' | 'none';
  recheck?(): KeyCheckResult | Promise<KeyCheckResult>;
}

/** A request whose caller has to be found out. */
export interface Visit {
  req: IncomingMessage;
  /** The address that the client asked. */
  address: PublicAddress;
  check: KeyChecker;
  /** True for a request to an MCP server, where alone the tokens for one are good. */
  isForMcp: boolean;
  /** The key as which a request counts that shows none, or one that the platform does not know; undefined where it needs one. */
  localKey: string | undefined;
}

/** Admits a request unchanged, for others to judge. */
export const UNAUTHENTICATED: AdmittedCaller = { consumes: 'none' };
const UNKNOWN_DEPLOYMENT = 'Deployment not found';
/** The audience of a token that nobody accepts: it is requested only to check a key. */
const NO_AUDIENCE = 'gateway';
/** The id of no workspace. */
const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000';

/**
 * Decides whether a request may go to a deployment. A deployment that does not exist and one that the caller does not
 * reach are the same 404. One with an auth handler of its own gets every request without a key or access token of the
 * platform, unchanged. A session's cookie counts for nothing at any deployment: browsers add it by themselves, also where
 * code of the project asked for the request.
 */
export async function admitToDeployment(visit: Visit, route: DeploymentRoute | undefined): Promise<AdmittedCaller> {
  return route?.has_custom_auth ? admitToCustomAuth(visit, route) : admitWithKey(visit, route);
}

/** Admits callers of the platform alone, also to a deployment with an auth handler: for what is not its users'. */
export async function admitWithKey(visit: Visit, route: DeploymentRoute | undefined): Promise<AdmittedCaller> {
  const { req, check } = visit;
  const { apiKey, bearer } = credentialsOf(req.headers);
  const credential = apiKey ?? bearer ?? visit.localKey;
  if (credential === undefined)
    throw new UnauthorizedError('Missing authentication headers', { code: 'credentials_missing' });
  requireNoSessionToken(credential);
  requireUseOfToken(credential, visit);
  let request = keyCheckFor(credential, route, visit);
  let answer = await check(request);
  if (answer.kind === 'refused' && visit.localKey !== undefined) {
    request = keyCheckFor(visit.localKey, route, visit);
    answer = await check(request);
  }
  if (answer.kind === 'refused') throw refusalOf(credential);
  if (answer.kind === 'address_not_allowed') throw addressNotAllowed();
  if (!route || !reaches(answer, route)) throw new NotFoundError(UNKNOWN_DEPLOYMENT, { code: 'deployment_not_found' });
  return admit(answer, request, check, consumedCredentials(apiKey, bearer));
}

/** Returns the workspace in which a request's credential of the platform acts; undefined for other callers. */
export async function findWorkspaceOfCaller({ req, check }: Visit): Promise<string | undefined> {
  const { apiKey, bearer } = credentialsOf(req.headers);
  const key = [apiKey, bearer].find(looksLikePlatformCredential);
  if (key === undefined) return undefined;
  // A person often has several workspaces, and a key mostly one.
  const workspaceId = looksLikeAccessToken(key) ? requestedId(req, 'x-tenant-id') : undefined;
  if (workspaceId !== undefined && !isUuid(workspaceId)) return undefined;
  const answer = await check({ key, audience: NO_AUDIENCE, ...(workspaceId && { workspaceId }) });
  return answer.kind === 'good' ? answer.claims.workspace_id : undefined;
}

/**
 * Admits everybody to a path that needs no key. Credentials of the platform are not forwarded; others may be those of
 * users whom the deployment's own handler knows.
 */
export function admitWithoutKey({ headers }: IncomingMessage, route: DeploymentRoute | undefined): AdmittedCaller {
  if (!route?.has_custom_auth) return { consumes: 'both' };
  const { apiKey, bearer } = credentialsOf(headers);
  if (looksLikePlatformCredential(apiKey)) return { consumes: consumedCredentials(apiKey, bearer) };
  return { consumes: looksLikePlatformCredential(bearer) ? 'authorization' : 'none' };
}

/** Requires the route for a path of a deployment that needs no key. @throws NotFoundError */
export function requireRoute(route: DeploymentRoute | undefined): DeploymentRoute {
  if (!route) throw new NotFoundError(UNKNOWN_DEPLOYMENT, { code: 'deployment_not_found' });
  return route;
}

/** Decides whether a request may go to one of the platform's services; the service decides what it may do there. */
export async function admitToService(visit: Visit, service: PublicService): Promise<AdmittedCaller> {
  const { req, check } = visit;
  const { apiKey, bearer } = credentialsOf(req.headers);
  const key = apiKey ?? (looksLikePlatformCredential(bearer) ? bearer : undefined);
  // Sign-ins are the service's to judge.
  if (key === undefined) return admitSession(visit, service);
  requireNoSessionToken(key);
  const request = serviceCheckFor(req, key, service);
  const answer = await check(request);
  if (answer.kind === 'refused') throw refusalOf(key);
  return admit(requireReach(answer), request, check, consumedCredentials(apiKey, bearer));
}

/**
 * Admits the person whose browser sent a session's cookie. A session that has ended counts as none: its browser has to
 * get to the pages where people sign in.
 */
async function admitSession({ req, address, check }: Visit, service: PublicService): Promise<AdmittedCaller> {
  const token = sessionTokenIn(req, address);
  if (token === undefined) return UNAUTHENTICATED;
  requireOwnPage(req, address);
  const request = serviceCheckFor(req, token, service);
  const answer = await check(request);
  return answer.kind === 'refused' ? UNAUTHENTICATED : admit(requireReach(answer), request, check, 'none');
}

/**
 * Admits a request to the pages where people sign in and out, which are for everybody: a session that may not act here
 * counts as none.
 */
export async function admitToSignIn(visit: Visit, service: PublicService): Promise<AdmittedCaller> {
  try {
    return await admitToService(visit, service);
  } catch (error) {
    if (error instanceof ForbiddenError) return UNAUTHENTICATED;
    throw error;
  }
}

async function admitToCustomAuth(visit: Visit, route: DeploymentRoute): Promise<AdmittedCaller> {
  const { req, check, localKey } = visit;
  // Studio calls as somebody whom the platform knows, where the project lets it.
  if (localKey !== undefined && req.headers['x-auth-scheme'] === 'langsmith') return admitWithKey(visit, route);
  const { apiKey, bearer } = credentialsOf(req.headers);
  for (const credential of [apiKey, bearer]) if (credential !== undefined) requireUseOfToken(credential, visit);
  if (looksLikePlatformCredential(apiKey)) {
    const request = keyCheckFor(apiKey, route, visit);
    const answer = await check(request);
    if (answer.kind === 'refused') {
      if (localKey === undefined) throw refusalOf(apiKey);
      // It is the handler's to judge, as one without a key.
      return { consumes: consumedCredentials(apiKey, bearer) };
    }
    if (answer.kind === 'address_not_allowed') throw addressNotAllowed();
    if (!reaches(answer, route)) throw new NotFoundError(UNKNOWN_DEPLOYMENT, { code: 'deployment_not_found' });
    return admit(answer, request, check, consumedCredentials(apiKey, bearer));
  }
  if (!looksLikePlatformCredential(bearer)) return UNAUTHENTICATED;
  const request = keyCheckFor(bearer, route, visit);
  const answer = await check(request);
  if (answer.kind === 'address_not_allowed') throw addressNotAllowed();
  // It opens something else, which the project's code must not get.
  if (answer.kind === 'out_of_reach') throw new NotFoundError(UNKNOWN_DEPLOYMENT, { code: 'deployment_not_found' });
  // The handler may still know a bearer that the platform does not know.
  return reaches(answer, route) ? admit(answer, request, check, 'authorization') : UNAUTHENTICATED;
}

/** Makes the question about a deployment. One that does not exist is asked about as one that nobody reaches. */
function keyCheckFor(key: string, route: DeploymentRoute | undefined, { localKey }: Visit): KeyCheckRequest {
  if (!route) return { key, audience: NO_AUDIENCE, workspaceId: NO_WORKSPACE };
  return {
    key,
    audience: `deployment:${route.deployment_id}`,
    workspaceId: route.workspace_id,
    ...(localKey !== undefined && { isHarmless: true }),
  };
}

/** @throws ForbiddenError for an id that no workspace and no organization can have */
function serviceCheckFor(req: IncomingMessage, key: string, audience: PublicService): KeyCheckRequest {
  const [workspaceId, organizationId] = [requestedId(req, 'x-tenant-id'), requestedId(req, 'x-organization-id')];
  const malformed = [workspaceId, organizationId].find((id): boolean => id !== undefined && !isUuid(id));
  if (malformed !== undefined) {
    throw new ForbiddenError(`You do not have access to ${malformed.slice(0, 64)}: it is no id`, {
      code: 'workspace_out_of_reach',
    });
  }
  return { key, audience, ...(workspaceId && { workspaceId }), ...(organizationId && { organizationId }) };
}

function requestedId({ headers }: IncomingMessage, name: 'x-tenant-id' | 'x-organization-id'): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value.toLowerCase() : undefined;
}

function reaches(answer: KeyCheckResult, route: DeploymentRoute): answer is KeyCheckResult & { kind: 'good' } {
  return answer.kind === 'good' && answer.claims.workspace_id === route.workspace_id;
}

/** @throws ForbiddenError */
function requireReach(answer: Exclude<KeyCheckResult, { kind: 'refused' }>): KeyCheckResult & { kind: 'good' } {
  if (answer.kind === 'out_of_reach') throw new ForbiddenError(answer.detail, { code: 'workspace_out_of_reach' });
  if (answer.kind === 'address_not_allowed') throw addressNotAllowed();
  return answer;
}

/** Refuses the token of a session outside of its cookie: programs have access tokens. @throws UnauthorizedError */
function requireNoSessionToken(credential: string): void {
  if (credential.startsWith(SESSION_TOKEN_PREFIX)) throw refusalOf(credential);
}

/** Refuses a token for an MCP server everywhere else. @throws UnauthorizedError */
function requireUseOfToken(credential: string, { isForMcp }: Visit): void {
  if (!isForMcp && looksLikeMcpToken(credential)) throw refusalOf(credential);
}

function refusalOf(credential: string): AppError {
  return looksLikeAccessToken(credential)
    ? new UnauthorizedError('Invalid access token', { code: 'session_invalid' })
    : new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
}

function addressNotAllowed(): ForbiddenError {
  return new ForbiddenError('The organization may not be used from this address', { code: 'address_not_allowed' });
}

function admit(
  { token, claims }: KeyCheckResult & { kind: 'good' },
  request: KeyCheckRequest,
  check: KeyChecker,
  consumes: AdmittedCaller['consumes'],
): AdmittedCaller {
  const { key } = request;
  // A request goes on after the expiry of its access token, or a new token of its session, as long as the session does.
  const isOfSession = key.startsWith(SESSION_TOKEN_PREFIX) || looksLikeAccessToken(key);
  const again = isOfSession ? { ...request, isInProgress: true } : request;
  return { principal: { token, claims }, consumes, recheck: () => check(again) };
}

function consumedCredentials(apiKey: string | undefined, bearer: string | undefined): AdmittedCaller['consumes'] {
  if (apiKey === undefined) return bearer === undefined ? 'none' : 'authorization';
  return looksLikePlatformCredential(bearer) ? 'both' : 'x-api-key';
}
