import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Operation } from '@runyard/contracts';
import { toUnavailableError } from '@runyard/database';
import {
  type AppOptions,
  type BoundOperation,
  bind,
  type HandlerRequest,
  type Reply,
  UnauthorizedError,
  UnsupportedMediaTypeError,
  UpgradeRequiredError,
} from '@runyard/service-kit';
import type { Static, TObject, TSchema } from 'typebox';
import { actAs } from '../audit/change-origin.ts';
import type { Database } from '../database/database.ts';
import { hashSecret } from '../database/hash-secret.ts';
import { isWellFormedScimToken } from './tokens/scim-token-format.ts';

const SCIM_PATH = '/scim/v2';
export const SCIM_CONTENT_TYPE = 'application/scim+json';

/** The identity provider of a request. */
export interface ScimScope {
  organizationId: string;
  tokenId: string;
  /** The address of the server as the client knows it, up to `/scim/v2`. */
  baseUrl: string;
}

/** Last uses are stored when the stored one is older. */
const LAST_USE_ACCURACY_MS = 60_000;

/** Lets only identity providers with a valid token below `/scim/v2`, before anything of a body is read. */
export function createScimGate(database: Database): NonNullable<AppOptions['before']>[number] {
  return (req, res, next) => {
    if (!isScimPath(req)) {
      next();
      return;
    }
    enter(database, req).then(
      (scope) => {
        res.locals.scim = scope;
        next();
      },
      (error: unknown) => next(toUnavailableError(error) ?? error),
    );
  };
}

/** Binds a handler that gets the identity provider; what it changes is recorded as that of the token. */
export function bindScim<Params extends TObject, Query extends TObject, Body extends TSchema>(
  operation: Operation<Params, Query, Body>,
  handler: (
    request: HandlerRequest<Static<Params>, Static<Query>, Static<Body>>,
    scope: ScimScope,
  ) => Promise<Reply> | Reply,
): BoundOperation {
  return bind(operation, (request) => {
    const scope = scopeOf(request.res);
    return actAs({ actorKind: 'scim', actorId: null, credentialId: scope.tokenId }, async () => {
      const reply = await handler(request, scope);
      if (reply.body === undefined) return reply;
      return { ...reply, headers: { ...reply.headers, 'content-type': SCIM_CONTENT_TYPE } };
    });
  });
}

export function isScimPath(req: IncomingMessage): boolean {
  const path = (req.url ?? '').split('?', 1)[0]!;
  return path === SCIM_PATH || path.startsWith(`${SCIM_PATH}/`);
}

function scopeOf(res: HandlerRequest['res']): ScimScope {
  return res.locals.scim as ScimScope;
}

async function enter(database: Database, req: IncomingMessage): Promise<ScimScope> {
  if (req.httpVersion === '1.0') throw new UpgradeRequiredError('SCIM needs HTTP/1.1');
  const token = /^bearer +(\S+)$/i.exec(req.headers.authorization ?? '')?.[1] ?? '';
  const stored = isWellFormedScimToken(token)
    ? await database.prisma.scimToken.findUnique({ where: { tokenSha256: hashSecret(token) } })
    : null;
  if (!stored || stored.revokedAt) {
    throw new UnauthorizedError('Invalid SCIM token', {
      code: 'scim_token_invalid',
      headers: { 'www-authenticate': 'Bearer realm="SCIM"' },
    });
  }
  if (hasBody(req) && !isJson(req.headers['content-type'])) {
    throw new UnsupportedMediaTypeError(`Send ${SCIM_CONTENT_TYPE} or application/json`);
  }
  if (!stored.lastUsedAt || Date.now() - stored.lastUsedAt.getTime() > LAST_USE_ACCURACY_MS) {
    await database.prisma.$executeRaw`UPDATE scim_token SET last_used_at = now() WHERE id = ${stored.id}::uuid`;
  }
  return { organizationId: stored.organizationId, tokenId: stored.id, baseUrl: baseUrlOf(req.headers) };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isJson(contentType: string | undefined): boolean {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  return type === SCIM_CONTENT_TYPE || type === 'application/json';
}

function baseUrlOf(headers: IncomingHttpHeaders): string {
  const first = (name: string) =>
    String(headers[name] ?? '')
      .split(',')[0]!
      .trim();
  const protocol = first('x-forwarded-proto') || 'http';
  const host = first('x-forwarded-host') || headers.host || 'localhost';
  return `${protocol}://${host}${first('x-forwarded-prefix')}${SCIM_PATH}`;
}
