import { parse as parseQuery } from 'node:querystring';
import type { Operation } from '@runyard/contracts';
import type { Request, RequestHandler, Response } from 'express';
import { releaseBodyBytes } from '../admission.ts';
import { AppError, NotFoundError, UnauthorizedError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { ANONYMOUS, INTERNAL, type Principal } from '../principal.ts';
import { readAdmittedBody } from './admitted-body.ts';
import type { AppOptions } from './app.ts';
import type { HandlerRequest, HandlerResult } from './bind.ts';
import { builtInOperations } from './built-in.ts';
import { isOfPlatform } from './internal-caller.ts';
import { sendReply } from './reply.ts';
import { type RouteMatch, RouteTable } from './route-table.ts';
import { RequestValidator, type ValidationErrorStyle } from './validate-request.ts';

interface Route {
  operation: Operation;
  validator: RequestValidator;
  handler: (request: HandlerRequest) => Promise<HandlerResult>;
}

/** The path exists, with other methods. */
class MethodNotAllowedError extends AppError<405> {
  readonly status = 405;
}

/**
 * Takes each request through the same steps: find the operation, authenticate the caller, validate the input, run the
 * handler, answer. `unmatched` comes after everything else that may serve a path, and answers 405 or 404.
 */
export function createDispatcher(
  options: AppOptions & { bodyLimitBytes: number; validationErrors: ValidationErrorStyle },
): { operations: RequestHandler; unmatched: RequestHandler } {
  const table = new RouteTable<Route>();
  for (const { operation, handler } of [...builtInOperations(options), ...options.operations]) {
    if (options.isExcluded?.(operation)) continue;
    assertGuarded(operation, options);
    const validator = new RequestValidator(operation, options.validationErrors);
    table.add(operation.method, operation.path, { operation, validator, handler });
  }

  const answer = async (req: Request, res: Response, match: RouteMatch<Route> & { kind: 'found' }) => {
    res.locals.route = match.template;
    const { operation, validator, handler } = match.target;
    const caller = await identify(req, operation, options);
    const params = validator.params(match.params);
    const query = validator.query(queryOf(req));
    const bodyLimit = Math.min(options.bodyLimitBytes, operation.bodyLimitBytes ?? Number.POSITIVE_INFINITY);
    const body = validator.takesBody ? validator.body(await readAdmittedBody(req, res, bodyLimit)) : undefined;
    const reply = await handler(new Incoming(req, res, params, query, body, caller));
    releaseBodyBytes(res);
    if (reply && !res.headersSent) sendReply(res, reply);
  };

  return {
    operations: (req, res, next) => {
      const match = table.find(req.method, req.path);
      if (match.kind === 'found') answer(req, res, match).catch(next);
      else next();
    },
    unmatched: (req) => {
      const match = table.find(req.method, req.path);
      if (match.kind !== 'wrong method') throw new NotFoundError('Not Found', { code: 'route_not_found' });
      throw new MethodNotAllowedError('Method Not Allowed', {
        code: 'method_not_allowed',
        headers: { allow: match.allowed.join(', ') },
      });
    },
  };
}

class Incoming implements HandlerRequest {
  readonly raw: Request;
  readonly res: Response;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: Principal;
  #abort: AbortController | undefined;

  constructor(raw: Request, res: Response, params: unknown, query: unknown, body: unknown, caller: Principal) {
    this.raw = raw;
    this.res = res;
    this.params = params;
    this.query = query;
    this.body = body;
    this.caller = caller;
  }

  get headers() {
    return this.raw.headers;
  }

  get log(): Logger {
    return this.res.locals.log;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      this.#abort = abort;
      const { res } = this;
      // The response holds this for as long as its answer takes: not the request, whose body may be large.
      const abortUnfinished = () => {
        if (!res.writableFinished) abort.abort(new Error('the client closed the connection'));
      };
      if (res.closed || res.destroyed) abortUnfinished();
      else res.once('close', abortUnfinished);
    }
    return this.#abort.signal;
  }
}

function queryOf(req: Request): Record<string, string | string[] | undefined> {
  const start = req.url.indexOf('?');
  return start < 0 ? {} : parseQuery(req.url.slice(start + 1));
}

async function identify(req: Request, operation: Operation, options: AppOptions): Promise<Principal> {
  if (operation.access === 'public') return ANONYMOUS;
  if (operation.access === 'principal') return options.principal!.authenticate(req);
  if (!isOfPlatform(req, options.internalToken)) {
    throw new UnauthorizedError('Unauthorized', { code: 'internal_token_invalid' });
  }
  return INTERNAL;
}

function assertGuarded(operation: Operation, options: AppOptions): void {
  if (operation.access === 'principal' && !options.principal) {
    throw new Error(`${operation.operationId} needs callers to be known, but no principal verifier is given`);
  }
  if (operation.access === 'internal' && !options.internalToken) {
    throw new Error(`${operation.operationId} is internal, but no internal token is given`);
  }
}
