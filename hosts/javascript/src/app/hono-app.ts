import { getRequestListener } from '@hono/node-server';
import { errorResponse, failureResponse } from './failure.ts';
import { type HonoApp, isMiddleware } from './hono.ts';
import type { MountedApp, ProjectAppOptions } from './project-app.ts';
import { requestAuthOf } from './request-auth.ts';
import { currentBody, shareParsedBody } from './request-body.ts';

/** Wraps a Hono app in another one, so that its middleware surrounds what the server answers. */
export async function mountHono(app: HonoApp, options: ProjectAppOptions): Promise<MountedApp> {
  // Hono and the class of the app are the project's own copies.
  const root = new (app.constructor as new () => HonoApp)();
  root.use('*', (context, next) => {
    shareParsedBody(context.req);
    const incoming = context.env?.incoming;
    context.set('auth', incoming && requestAuthOf(incoming));
    return next();
  });
  root.route('/', app);
  root.all('*', ({ req }) => currentBody(req).then((body) => options.passOn(req.raw, body)));
  root.notFound(() => errorResponse(404, 'Not Found'));
  root.onError((error) => answerFailure(error, options.log));
  return {
    listener: getRequestListener((request, env) => root.fetch(request, env), { overrideGlobalObjects: false }),
    paths: [...new Set(app.routes.map(({ path }) => path))],
    routes: app.routes.filter((route) => !isMiddleware(route)).map(({ method, path }) => ({ method, path })),
    openApi: app.getOpenAPI31Document?.({ openapi: '3.1.0', info: { title: '', version: '' } }) ?? null,
  };
}

/** Answers with what an `HTTPException` holds. */
function answerFailure(
  error: Error & { status?: number; res?: Response; getResponse?(): Response },
  log: (message: string) => void,
): Response {
  if (error.getResponse === undefined) return failureResponse(error, log);
  return error.res === undefined ? errorResponse(error.status ?? 500, error.message) : error.getResponse();
}
