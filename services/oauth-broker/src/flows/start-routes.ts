import type { IncomingMessage } from 'node:http';
import { startAuthentication } from '@runyard/contracts';
import { AppError, type BoundOperation, bind, type Logger, type Principal, type Reply } from '@runyard/service-kit';
import { type BrowserCookie, isProofOf, proofOf } from './browser-cookie.ts';
import type { FlowService, StartableFlow } from './flow-service.ts';
import { renderPage } from './pages.ts';

export interface StartRoutesOptions {
  cookie: BrowserCookie;
  /** Returns the person whose session the request has; null when it has none. */
  findPerson(request: IncomingMessage): Promise<Principal | null>;
}

/**
 * Serves the page where a person begins an authorization. Its address may come from anybody, so it leads to the provider
 * only by its own link, and an authorization for a person of the platform only after that person's sign-in.
 */
export function startRoutes(flows: FlowService, { cookie, findPerson }: StartRoutesOptions): BoundOperation[] {
  const start = async (raw: IncomingMessage, authId: string, proof: string | undefined): Promise<Reply> => {
    const flow = await flows.findStartable(authId);
    if (flow.personId !== null) {
      const person = await findPerson(raw);
      if (person === null) return redirectTo(`/login?return_to=${encodeURIComponent(`/v2/auth/start/${flow.id}`)}`);
      if (person.personId !== flow.personId) return refuseOther();
    }
    const browser = cookie.read(raw.headers);
    if (browser !== null && isProofOf(flow.id, browser, proof)) {
      return redirectTo(await flows.begin(flow, browser));
    }
    const issued = browser === null ? cookie.issue() : null;
    const page = showRequest(flow, proofOf(flow.id, issued?.secret ?? browser!));
    return issued === null ? page : { ...page, headers: { ...page.headers, 'set-cookie': issued.header } };
  };
  return [
    bind(startAuthentication, async ({ raw, params, query, log }) => {
      try {
        return await start(raw, params.auth_id, query.proof);
      } catch (error) {
        return showFailure(error, log);
      }
    }),
  ];
}

function showRequest({ provider, scopes, subject, personId }: StartableFlow, proof: string): Reply {
  const { name, authUrl } = provider;
  const whom =
    personId === null
      ? `An application of this platform asks for it, ${subject === '' ? 'for its own use' : `for its user “${subject}”`}. Who runs it can then act with your account.`
      : 'You asked for it yourself, or a program with your key did. It can then act with your account.';
  return renderPage(
    200,
    `Connect your account at ${name}?`,
    [
      whom,
      scopes.length === 0 ? 'It asks for no rights by name.' : `It asks for: ${scopes.join(', ')}.`,
      `The next page is of ${new URL(authUrl).host}. If you did not ask for this, close the page.`,
    ],
    { text: `Continue to ${name}`, href: `?proof=${proof}` },
  );
}

function refuseOther(): Reply {
  return renderPage(403, 'This authorization is for another person', [
    'Sign in as the person who asked for it, or ask for one of your own.',
  ]);
}

function redirectTo(location: string): Reply {
  return { status: 303, headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } };
}

function showFailure(error: unknown, log: Logger): Reply {
  const title = 'This authorization cannot be begun';
  if (!(error instanceof AppError)) {
    log.error('OAuth authorization not begun', { error });
    return renderPage(500, title, ['Something went wrong here. Try it again.']);
  }
  return renderPage(error.status, title, [error.message]);
}
