import type { IncomingMessage, ServerResponse } from 'node:http';
import { failureResponse, type RouteError } from './failure.ts';
import { sendResponse, toPassedRequest } from './node-messages.ts';
import type { MountedApp, ProjectAppOptions } from './project-app.ts';

/** An Express app, or another function in its form that calls `next` for what it does not answer. */
interface ExpressApp {
  (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): unknown;
  use(...handlers: unknown[]): unknown;
}

export function isExpress(value: unknown): value is ExpressApp {
  return typeof value === 'function' && typeof (value as Partial<ExpressApp>).use === 'function';
}

/** Puts an Express app in front of the server. It sees every request, as its middleware has no list of paths. */
export async function mountExpress(app: ExpressApp, { passOn, log }: ProjectAppOptions): Promise<MountedApp> {
  const goOn = async (req: IncomingMessage & { body?: unknown }, res: ServerResponse) => {
    const { request, body } = toPassedRequest(req, res, req.body);
    await sendResponse(res, await passOn(request, body));
  };
  const fail = (error: RouteError, res: ServerResponse) => {
    if (res.headersSent) res.destroy();
    else sendResponse(res, failureResponse(error, log)).catch(() => res.destroy());
  };
  return {
    listener: (req, res) => {
      app(req, res, (error) => {
        if (error instanceof Error) fail(error, res);
        else if (error) fail(new Error(String(error)), res);
        else goOn(req, res).catch((cause: RouteError) => fail(cause, res));
      });
    },
    paths: ['*'],
    openApi: null,
  };
}
