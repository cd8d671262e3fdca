import { finishAuthentication, oauthCallback, oauthSetup } from '@runyard/contracts';
import {
  AppError,
  type BoundOperation,
  bind,
  type HandlerRequest,
  type Logger,
  ok,
  type Reply,
} from '@runyard/service-kit';
import type { BrowserCookie } from './browser-cookie.ts';
import type { CallbackAnswer, FlowService } from './flow-service.ts';
import { renderPage } from './pages.ts';

const SETUP_TEXTS = {
  install: 'It was installed. Go back to where you came from, and connect your account there.',
  update: 'What it may see was changed.',
  request: 'An owner of the account has to approve it. It is installed when that is done.',
} as const;

/**
 * Serves the redirects of browsers that come back from a provider. They have no key: their state authorizes them, in the
 * browser that it was made for.
 */
export function callbackRoutes(
  flows: FlowService,
  options: { cookie: BrowserCookie; finishedUrl?: string },
): BoundOperation[] {
  const redirectOrShow = (providerId: string, status: 'completed' | 'failed', shown: Reply): Reply => {
    if (options.finishedUrl === undefined) return shown;
    const url = new URL(options.finishedUrl);
    url.searchParams.set('provider_id', providerId);
    url.searchParams.set('status', status);
    return {
      status: 303,
      headers: { location: url.href, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    };
  };
  const finishFlow = async (
    providerId: string,
    answer: CallbackAnswer,
    { headers, log }: Pick<HandlerRequest, 'headers' | 'log'>,
  ): Promise<Reply> => {
    try {
      await flows.finishInBrowser(providerId, answer, options.cookie.read(headers));
    } catch (error) {
      return redirectOrShow(providerId, 'failed', showFailure(error, log));
    }
    const text = 'You can close this page and go back to where you came from.';
    return redirectOrShow(providerId, 'completed', renderPage(200, 'Your account is connected', [text]));
  };
  return [
    bind(oauthCallback, (request) => finishFlow(request.params.provider_id, request.query, request)),
    bind(finishAuthentication, async ({ caller, params, body }) => {
      await flows.finishByFrontEnd(params.provider_id, body, caller);
      return ok({ message: 'The account is connected.', provider_id: params.provider_id });
    }),
    bind(oauthSetup, async (request) => {
      const { params, query } = request;
      const { setup_action: action = 'install', installation_id: id, ...answer } = query;
      // Applications that request an account during installation redirect here with the parameters of the callback.
      const brings = answer.code !== undefined || answer.error !== undefined;
      if (action === 'install' && brings) return finishFlow(params.provider_id, answer, request);
      const which = id === undefined ? '' : ` (installation ${id})`;
      return renderPage(200, `The application is set up${which}`, [SETUP_TEXTS[action]]);
    }),
  ];
}

function showFailure(error: unknown, log: Logger): Reply {
  const title = 'Your account could not be connected';
  if (!(error instanceof AppError)) {
    log.error('OAuth authorization failed unexpectedly', { error });
    return renderPage(500, title, ['Something went wrong here. Try it again.']);
  }
  log.info('OAuth authorization failed', { status: error.status, detail: error.message, ...error.internal });
  return renderPage(error.status, title, [error.message]);
}
