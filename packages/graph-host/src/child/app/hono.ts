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

export interface HonoContext {
  req: HonoRequest;
  /** The listener's bindings of this request. */
  env: { incoming?: IncomingMessage } | undefined;
  set(name: string, value: unknown): void;
}

export interface HonoApp {
  routes: { path: string; method: string }[];
  fetch(request: Request, ...rest: unknown[]): Response | Promise<Response>;
  route(path: string, app: HonoApp): unknown;
  use(path: string, handler: (context: HonoContext, next: () => Promise<void>) => Promise<void>): unknown;
  all(path: string, handler: (context: HonoContext) => Promise<Response>): unknown;
  onError(handler: (error: Error) => Response | Promise<Response>): unknown;
  notFound(handler: () => Response): unknown;
  /** Exists on apps of `@hono/zod-openapi` only. */
  getOpenAPI31Document?(settings: object): object;
}

export function isHono(value: unknown): value is HonoApp {
  const app = value as Partial<HonoApp> | null;
  return typeof app?.fetch === 'function' && typeof app.route === 'function' && Array.isArray(app.routes);
}
