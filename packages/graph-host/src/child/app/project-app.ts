/**
 * The project's Hono app, wrapped the way an agent server mounts it: its routes and middleware come first, and what none of
 * them answers is passed on to the server's own routes, whose answers its middleware still sees.
 */
import { GraphLoadError } from '../../errors.ts';
import type { ProjectExport } from '../../project/read-project.ts';
import { describeLoadFailure } from '../describe-failure.ts';
import { importSymbol } from '../import-symbol.ts';
import { type Body, type HonoApp, isHono } from './hono.ts';
import { currentBody, shareParsedBody } from './request-body.ts';

export interface ProjectApp {
  fetch(request: Request, ...rest: unknown[]): Response | Promise<Response>;
  /** Patterns of its routes and middleware; a path that fits none of them need not be shown to it. */
  paths: string[];
  /** Its routes as an OpenAPI document, if it describes them. */
  openApi: object | null;
}

export interface ProjectAppOptions {
  /** Answers what the app does not. */
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
  // Of the project's own copy of Hono, and of its kind of app.
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

/** An `HTTPException` is an answer the app chose; anything else is a fault for its author's eyes only. */
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
