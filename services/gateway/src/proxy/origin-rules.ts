import {
  CONSOLE_COOKIE,
  CONSOLE_SIGN_IN_COOKIE,
  cookiesIn,
  isConsoleCookie,
  isPlatformCookie,
  LOOPBACK_CONSOLE_COOKIE,
  LOOPBACK_CONSOLE_SIGN_IN_COOKIE,
  OAUTH_COOKIE,
  PLAIN_OAUTH_COOKIE,
} from '@runyard/contracts';

/**
 * The sender of an answer. What a deployment answers is written by its project: below the platform's own host it must not
 * touch what belongs to the whole host.
 */
export type AnswerSource = 'service' | 'deployment at its host' | 'deployment at the platform';

/**
 * Every answer of a deployment at the platform's host has these headers, whatever its type and status: browsers take the
 * policy of the answer, or of a 304 that renews one they have. Scripts of the project then run in an origin of their own,
 * so that they cannot act with the session's cookie.
 */
const APART_FROM_THE_HOST: readonly string[] = [
  'content-security-policy',
  'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads',
  'x-content-type-options',
  'nosniff',
];

/** Headers of a deployment that are left out there: with them it would change how browsers treat the whole host. */
const NOT_AT_THE_PLATFORM: ReadonlySet<string> = new Set([
  // It is sent to the whole host, and enough of them make every request to it too long.
  'set-cookie',
  'clear-site-data',
  'service-worker-allowed',
  'strict-transport-security',
  'alt-svc',
  'set-login',
  'secure-session-registration',
  'sec-session-registration',
  'use-as-dictionary',
  // Reports would tell the project which pages of the host people visit.
  'nel',
  'report-to',
  // A second value would make the first one void.
  'x-content-type-options',
]);

/** Returns whether a header of an answer may reach the client. No deployment sets a cookie with a name of the platform's. */
export function mayAnswerWith(name: string, value: string, source: AnswerSource): boolean {
  if (source === 'service') return true;
  if (source === 'deployment at the platform') return !NOT_AT_THE_PLATFORM.has(name);
  return name !== 'set-cookie' || !setsPlatformCookie(value);
}

/** Returns headers, names and values, that every answer gets because of its origin. */
export function originHeaders(source: AnswerSource): readonly string[] {
  return source === 'deployment at the platform' ? APART_FROM_THE_HOST : [];
}

/**
 * The cookies of the platform that a destination gets. `sign-in`: all but the console's; `oauth`: that of authorizations
 * at OAuth providers alone; `console`: those of the console alone.
 */
export type PlatformCookies = 'sign-in' | 'oauth' | 'console' | 'none';

const OAUTH_COOKIES: ReadonlySet<string> = new Set([OAUTH_COOKIE, PLAIN_OAUTH_COOKIE]);
const CONSOLE_COOKIES: ReadonlySet<string> = new Set([
  ...[CONSOLE_COOKIE, LOOPBACK_CONSOLE_COOKIE],
  ...[CONSOLE_SIGN_IN_COOKIE, LOOPBACK_CONSOLE_SIGN_IN_COOKIE],
]);

const IS_KEPT: Record<PlatformCookies, (name: string) => boolean> = {
  'sign-in': (name) => isPlatformCookie(name) && !isConsoleCookie(name),
  oauth: (name) => OAUTH_COOKIES.has(name),
  console: (name) => CONSOLE_COOKIES.has(name),
  none: () => false,
};

/** Returns a `Cookie` header without the platform's own, but for `kept`; undefined when nothing is left. */
export function forwardedCookies(header: string, kept: PlatformCookies): string | undefined {
  if (!/runyard/i.test(header)) return header;
  const others = cookiesIn(header).filter(
    ({ name, value }) => IS_KEPT[kept](name) || (!isPlatformCookie(name) && !isNamedByValue(name, value)),
  );
  return others.length === 0 ? undefined : others.map(({ text }) => text).join('; ');
}

function setsPlatformCookie(setCookie: string): boolean {
  const [pair = ''] = setCookie.split(';', 1);
  const [{ name, value } = { name: '', value: '' }] = cookiesIn(pair);
  return isPlatformCookie(name) || isNamedByValue(name, value);
}

/** Returns whether a cookie has no name, and a value that browsers send where a name and a value would be. */
function isNamedByValue(name: string, value: string): boolean {
  return name === '' && isPlatformCookie(value.replace(/^[=\s]+/, ''));
}
