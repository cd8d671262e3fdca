/**
 * Wraps the project's Hono app the way an agent server mounts it: its routes and middleware come first. A request that
 * none of them answers is passed on to the server's own routes, and the app's middleware sees the answer.
 */
import { GraphLoadError } from '../../errors.ts';
import type { ProjectExport } from '../../project/read-project.ts';
import { describeLoadFailure } from '../describe-failure.ts';
import { importSymbol } from '../loading/import-symbol.ts';
import { type Body, type HonoApp, isHono } from './hono.ts';
import { currentBody, shareParsedBody } from './request-body.ts';

export interface ProjectApp {
  fetch(request: Request, ...rest: unknown[]): Response | Promise<Response>;
  /** Patterns of its routes and middleware. The app need not see a path that matches none of them. */
  paths: string[];
  /** An OpenAPI document of its routes, or null when the app does not describe them. */
  openApi: object | null;
}

export interface ProjectAppOptions {
  /** Answers requests that the app does not answer. */
  passOn(request: Request, body: Body): Promise<Response>;
  log(message: string): void;
}

/** @throws GraphLoadError */
export async function loadProjectApp(
  source: ProjectExport,
  directory: string,
  options: ProjectAppOptions,
): Promise<ProjectApp> {
  const app = await importSymbol(source, directory).catch((cause) => {
    throw new GraphLoadError(describeLoadFailure('The app of "http.app"', cause, directory), { cause });
  });
  if (!isHono(app)) {
    throw new GraphLoadError(`The export "${source.symbol}" that "http.app" names is not a Hono app.`);
  }
  // Hono and the class of the app are the project's own copies.
  const root = new (app.constructor as new () => HonoApp)();
  root.use('*', ({ req }, next) => {
    shareParsedBody(req);
    return next();
  });
  root.route('/', app);
  root.all('*', ({ req }) => currentBody(req).then((body) => options.passOn(req.raw, body)));
  root.notFound(() => answer(404, 'Not Found'));
  root.onError((error) => answerFailure(error, options.log));
  return {
    fetch: root.fetch.bind(root),
    paths: [...new Set(app.routes.map(({ path }) => path))],
    openApi: app.getOpenAPI31Document?.({ openapi: '3.1.0', info: { title: '', version: '' } }) ?? null,
  };
}

function answer(status: number, detail: string): Response {
  return Response.json({ detail }, { status });
}

/**
 * Answers with what an `HTTPException` holds. Any other error is logged for the project's author and hidden from
 * clients.
 */
async function answerFailure(
  error: Error & { status?: number; res?: Response; getResponse?(): Response },
  log: (message: string) => void,
): Promise<Response> {
  if (error.getResponse !== undefined) {
    return error.res === undefined ? answer(error.status ?? 500, error.message) : error.getResponse();
  }
  log(`A route of the project failed: ${error.stack ?? error.message}`);
  return answer(500, 'Internal Server Error');
}
