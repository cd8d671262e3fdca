import { consolePages } from '@runyard/contracts';
import { BadRequestError, type BoundOperation, NotFoundError, redirect } from '@runyard/service-kit';
import type { ConsoleSessions } from '../sign-in/console/console-sessions.ts';
import { bindPage, RETURN_ADDRESS_MAX } from './bind-page.ts';
import { withoutReferrer } from './layout.ts';
import type { PageVisitors } from './page-visitors.ts';

export interface ConsolePageParts {
  visitors: PageVisitors;
  consoleSessions: ConsoleSessions;
  /** The origin of the console; undefined where there is none. */
  consoleUrl: string | undefined;
}

/** SHA-256 in base64url (RFC 7636, `S256`). */
const CHALLENGE = /^[\w-]{43}$/;
const STATE = /^[\w-]{1,128}$/;

/**
 * The way to the console. It asks nothing, as the console is the platform's own: the address is that of the setting, and
 * the code in it is good for the backend alone that made the challenge.
 */
export function consolePageRoutes({ visitors, consoleSessions, consoleUrl }: ConsolePageParts): BoundOperation[] {
  const open = bindPage(consolePages.open, async ({ query, headers, raw }) => {
    if (consoleUrl === undefined)
      throw new NotFoundError('This installation has no console', { code: 'route_not_found' });
    const { code_challenge: challenge = '', state = '' } = query;
    if (!CHALLENGE.test(challenge) || !STATE.test(state) || raw.originalUrl.length > RETURN_ADDRESS_MAX)
      throw new BadRequestError('The way to the console begins at the console: go there to sign in');
    const { session } = await visitors.require(headers);
    const code = await consoleSessions.issueCode(session, challenge);
    return redirect(`${consoleUrl}/auth/callback?${new URLSearchParams({ code, state })}`);
  });
  return [withoutReferrer(open)];
}
