import type { IncomingMessage } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { failureResponse, type RouteError } from './failure.ts';
import type { MountedApp, ProjectAppOptions } from './project-app.ts';
import { type RequestAuth, requestAuthOf } from './request-auth.ts';

type FetchHandler = (request: Request, context?: { auth: RequestAuth }) => FetchAnswer | Promise<FetchAnswer>;
/** A `Request` goes on to the server in place of the one that came; nothing, or a 404, lets that one go on. */
type FetchAnswer = Response | Request | null | undefined;

/** Returns whether it is a function from a `Request` to a `Response`, or an object that has one as `fetch`. */
export function isFetchHandler(value: unknown): value is FetchHandler | { fetch: FetchHandler } {
  return typeof value === 'function' || typeof (value as { fetch?: unknown } | null)?.fetch === 'function';
}

/** Puts a fetch handler in front of the server. It cannot say which paths are its own, so it sees every request. */
export async function mountFetchHandler(
  handler: FetchHandler | { fetch: FetchHandler },
  { passOn, log }: ProjectAppOptions,
): Promise<MountedApp> {
  const ask: FetchHandler = typeof handler === 'function' ? handler : (...given) => handler.fetch(...given);
  const fetch = async (request: Request, auth: RequestAuth | undefined): Promise<Response> => {
    // The handler may read the body of a request that goes on afterwards.
    const copy = request.clone();
    const answer = await (auth ? ask(copy, { auth }) : ask(copy));
    const isForServer = !(answer instanceof Response) || answer.status === 404;
    if (!copy.bodyUsed) discard(copy);
    if (!isForServer) {
      discard(request);
      return answer;
    }
    if (!(answer instanceof Request)) return passOn(request, request.body);
    discard(request);
    return passOn(answer, answer.body);
  };
  return {
    listener: getRequestListener(
      (request, { incoming }) =>
        fetch(request, requestAuthOf(incoming as IncomingMessage)).catch((error: RouteError) =>
          failureResponse(error, log),
        ),
      {
        overrideGlobalObjects: false,
      },
    ),
    paths: ['*'],
    openApi: null,
  };
}

/** Ends one of two copies, so that the other is not kept for it. Its promise would wait for the other to end. */
function discard({ body }: Request): void {
  body?.cancel().catch(() => undefined);
}
