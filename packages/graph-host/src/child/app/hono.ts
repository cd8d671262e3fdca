/** The little of Hono's surface that the host touches. The classes themselves come from the project at run time. */

/** A body in the forms that requests are passed on with. */
export type Body = ReadableStream | ArrayBuffer | string | null;

export interface HonoRequest {
  /** What was read of the body so far, by form; middleware may have changed what it got. */
  bodyCache: Partial<Record<string, unknown>>;
  raw: Request;
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
  json(): Promise<unknown>;
}

export interface HonoContext {
  req: HonoRequest;
}

export interface HonoApp {
  routes: { path: string; method: string }[];
  fetch(request: Request, ...rest: unknown[]): Response | Promise<Response>;
  route(path: string, app: HonoApp): unknown;
  use(path: string, handler: (context: HonoContext, next: () => Promise<void>) => Promise<void>): unknown;
  all(path: string, handler: (context: HonoContext) => Promise<Response>): unknown;
  onError(handler: (error: Error) => Response | Promise<Response>): unknown;
  notFound(handler: () => Response): unknown;
  /** Of `@hono/zod-openapi`. */
  getOpenAPI31Document?(settings: object): object;
}

export function isHono(value: unknown): value is HonoApp {
  const app = value as Partial<HonoApp> | null;
  return typeof app?.fetch === 'function' && typeof app.route === 'function' && Array.isArray(app.routes);
}
