import type { RequestListener, Server } from 'node:http';
import { type AppRoute, GraphLoadError, type ProjectExport } from '@runyard/host-protocol/graph-process';
import { describeLoadFailure } from '../describe-failure.ts';
import { importOptionalSymbol, importSymbol } from '../loading/import-symbol.ts';
import { isExpress, mountExpress } from './express-app.ts';
import { isFastify, mountFastify } from './fastify-app.ts';
import { isFetchHandler, mountFetchHandler } from './fetch-app.ts';
import { isHono } from './hono.ts';
import { mountHono } from './hono-app.ts';
import type { Body } from './request-body.ts';

/**
 * The project's app as an agent server mounts it: its routes and middleware come first. A request that none of them
 * answers is passed on to the server's own routes, and the app's middleware sees the answer.
 */
export interface ProjectApp {
  listener: RequestListener;
  /** Patterns of its routes and middleware. The app need not see a path that matches none of them. */
  paths: string[];
  /** Holds its routes without its middleware. It is left out where nobody can tell the two apart. */
  routes?: AppRoute[];
  /** An OpenAPI document of its routes, or null when the app does not describe them. */
  openApi: object | null;
  /** Makes the app answer websockets at a server; null when it has none. */
  attachWebSockets: ((server: Server) => void) | null;
}

export interface ProjectAppOptions {
  /** Answers requests that the app does not answer. */
  passOn(request: Request, body: Body): Promise<Response>;
  log(message: string): void;
}

/** An app of a framework; only some frameworks have websockets of their own. */
export type MountedApp = Omit<ProjectApp, 'attachWebSockets'> & Partial<Pick<ProjectApp, 'attachWebSockets'>>;

/** A file may export a function under this name beside its app, as `createNodeWebSocket` of `@hono/node-ws` returns it. */
const WEB_SOCKETS = 'injectWebSocket';

/** The kinds of apps by what tells them apart. A Hono app has `fetch` too, and an Express app is a function. */
const KINDS: { is(app: unknown): boolean; mount(app: never, options: ProjectAppOptions): Promise<MountedApp> }[] = [
  { is: isHono, mount: mountHono },
  { is: isFastify, mount: mountFastify },
  { is: isExpress, mount: mountExpress },
  { is: isFetchHandler, mount: mountFetchHandler },
];

/** @throws GraphLoadError */
export async function loadProjectApp(
  source: ProjectExport,
  directory: string,
  options: ProjectAppOptions,
): Promise<ProjectApp> {
  const fail = (cause: unknown) => {
    throw new GraphLoadError(describeLoadFailure('The app of "http.app"', cause, directory), { cause });
  };
  const app = await importSymbol(source, directory).catch(fail);
  const kind = KINDS.find(({ is }) => is(app));
  if (!kind) {
    throw new GraphLoadError(
      `The export "${source.symbol}" that "http.app" names is no Hono, Express or Fastify app, and no fetch handler.`,
    );
  }
  const mounted = await kind.mount(app as never, options).catch(fail);
  const attach = await importOptionalSymbol({ file: source.file, symbol: WEB_SOCKETS });
  const attachWebSockets = typeof attach === 'function' ? (attach as (server: Server) => void) : null;
  return { ...mounted, attachWebSockets: attachWebSockets ?? mounted.attachWebSockets ?? null };
}
