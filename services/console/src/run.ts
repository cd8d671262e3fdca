import { fileURLToPath } from 'node:url';
import {
  createApp,
  InternalClient,
  openEarlyListener,
  type RequestHandler,
  type ServiceContext,
} from '@runyard/service-kit';
import { Agent } from 'undici';
import type { Config } from './config.ts';
import { consoleRoutes } from './console-routes.ts';
import { openLive } from './live/live-operation.ts';
import { LiveStreams } from './live/live-stream.ts';
import { PageFiles } from './pages/page-files.ts';
import { PLATFORM_PREFIX } from './platform/paths.ts';
import { Platform } from './platform/platform.ts';
import { ConsoleCookies } from './sign-in/cookies.ts';
import { ConsoleSessions } from './sign-in/sessions.ts';
import { SignIn } from './sign-in/sign-in.ts';

/** Uploads of sources go to object storage, and nothing else that pages send is large. */
const BODY_LIMIT_BYTES = 32 * 1024 * 1024;
/** Services of the platform answer within milliseconds or not at all. */
const QUESTION_TIMEOUT_MS = 5_000;
/** The path is valid from `src/` and from `dist/`. */
const pagesFolder = fileURLToPath(new URL('../dist/web', import.meta.url));

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle } = context;
  const consoleUrl = new URL(config.CONSOLE_URL);
  const files = await PageFiles.read(pagesFolder, new URL(config.PUBLIC_URL).origin);
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  // Streams are quiet for as long as nothing happens, and heartbeats say that the gateway is there.
  const dispatcher = new Agent({ bodyTimeout: 60_000, headersTimeout: 0, connections: null });
  lifecycle.onStop('connections to the gateway', () => dispatcher.destroy());
  const orgAccess = new InternalClient({
    service: 'org-access',
    url: config.ORG_ACCESS_URL,
    internalToken: config.INTERNAL_TOKEN,
    timeoutMs: QUESTION_TIMEOUT_MS,
  });
  const sessions = new ConsoleSessions(orgAccess);
  const cookies = new ConsoleCookies(consoleUrl);
  const { origin } = consoleUrl;
  const platform = new Platform({
    sessions,
    cookies,
    origin,
    gatewayUrl: config.GATEWAY_URL,
    internalToken: config.INTERNAL_TOKEN,
    dispatcher,
  });
  const live = new LiveStreams({ platform, logger: context.logger });
  const signIn = new SignIn({ sessions, cookies, origin, publicUrl: config.PUBLIC_URL });
  const app = createApp({
    context,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    internalToken: config.INTERNAL_TOKEN,
    before: [keepNowhere, requireSessionForLive(platform), passToPlatform(platform)],
    operations: consoleRoutes({ signIn, live }),
    after: [sendPages(files)],
  });
  earlyListener.serve(app, { onClosed: () => live.close() });
  lifecycle.ready();
}

/** Errors are for nobody's cache either. Files say themselves how long they are good. */
const keepNowhere: RequestHandler = (_req, res, next) => {
  res.setHeader('cache-control', 'no-store');
  res.setHeader('x-content-type-options', 'nosniff');
  next();
};

/** Refuses strangers before the body of their request is read. */
function requireSessionForLive(platform: Platform): RequestHandler {
  return (req, _res, next) => {
    if (req.path === openLive.path) platform.requireSession(req);
    next();
  };
}

function passToPlatform(platform: Platform): RequestHandler {
  return (req, res, next) => {
    if (!req.path.startsWith(`${PLATFORM_PREFIX}/`)) {
      next();
      return;
    }
    res.locals.route = PLATFORM_PREFIX;
    platform.pass(req, res).catch(next);
  };
}

function sendPages(files: PageFiles): RequestHandler {
  return (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      next();
      return;
    }
    res.locals.route = 'pages';
    files.send(req, res, req.path).then((isSent) => (isSent ? undefined : next()), next);
  };
}
