import type { IncomingHttpHeaders } from 'node:http';
import type { Operation } from '@runyard/contracts';
import type { Request, Response } from 'express';
import type { Static, TObject, TSchema } from 'typebox';
import type { Logger } from '../logger.ts';
import type { Principal } from '../principal.ts';
import type { Reply } from './reply.ts';

/** A request for a handler: checked against the contract, from a known caller. */
export interface HandlerRequest<Params = unknown, Query = unknown, Body = unknown> {
  params: Params;
  query: Query;
  body: Body;
  caller: Principal;
  headers: IncomingHttpHeaders;
  /** Aborts when the client disconnects before the answer is complete. */
  signal: AbortSignal;
  raw: Request;
  res: Response;
  /** Logs with the request's id. */
  log: Logger;
}

/** A reply, or nothing when the handler took over the response. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that streams has no return statement at all.
export type HandlerResult = Reply | undefined | void;

export interface BoundOperation {
  operation: Operation;
  handler: (request: HandlerRequest) => Promise<HandlerResult>;
}

/**
 * Binds a handler to an operation. A handler returns a Reply, or takes over `res` itself (a stream, for example) and
 * returns nothing. Nothing holds the request's body when it has returned, though the answer may go on for long: the
 * bytes of the body do not count any more. Its errors are answered with their status; after the headers were sent, the
 * connection is closed instead.
 */
export function bind<Params extends TObject, Query extends TObject, Body extends TSchema>(
  operation: Operation<Params, Query, Body>,
  handler: (request: HandlerRequest<Static<Params>, Static<Query>, Static<Body>>) => Promise<HandlerResult> | Reply,
): BoundOperation {
  return {
    operation: operation as unknown as Operation,
    handler: async (request) => handler(request as HandlerRequest<Static<Params>, Static<Query>, Static<Body>>),
  };
}
