/** The part of Hono's API that the host uses. The classes themselves come from the project at run time. */
import type { IncomingMessage } from 'node:http';

export interface HonoRequest {
  /** The parsed forms of the body, by name. Middleware may have replaced or changed them. */
  bodyCache: Partial<Record<string, unknown>>;
  raw: Request;
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
  json(): Promise<unknown>;
}

interface HonoContext {
  req: HonoRequest;
  /** The listener's bindings of this request. */
  env: { incoming?: IncomingMessage } | undefined;
  set(name: string, value: unknown): void;
}

type HonoHandler = ((...args: never[]) => unknown) & {
  /** The handler of an app with an error handler of its own, around which another app has put one. */
  __COMPOSED_HANDLER?: HonoHandler;
};

export interface HonoRoute {
  path: string;
  /** `ALL` for every method, and for middleware. */
  method: string;
  handler: HonoHandler;
}

export interface HonoApp {
  routes: HonoRoute[];
  fetch(request: Request, ...rest: unknown[]): Response | Promise<Response>;
  route(path: string, app: HonoApp): unknown;
  use(path: string, handler: (context: HonoContext, next: () => Promise<void>) => Promise<void>): unknown;
  all(path: string, handler: (context: HonoContext) => Promise<Response>): unknown;
  onError(handler: (error: Error) => Response | Promise<Response>): unknown;
  notFound(handler: () => Response): unknown;
  /** Exists on apps of `@hono/zod-openapi` only. */
  getOpenAPI31Document?(settings: object): object;
}

/** Returns whether a route is middleware, which takes `next`. Hono keeps both in one list. */
export function isMiddleware({ method, handler }: HonoRoute): boolean {
  let innermost = handler;
  while (innermost.__COMPOSED_HANDLER) innermost = innermost.__COMPOSED_HANDLER;
  return method === 'ALL' && innermost.length > 1;
}

export function isHono(value: unknown): value is HonoApp {
  const app = value as Partial<HonoApp> | null;
  return typeof app?.fetch === 'function' && typeof app.route === 'function' && Array.isArray(app.routes);
}
