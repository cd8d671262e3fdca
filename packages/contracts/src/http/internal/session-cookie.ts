/** Begins the token of every session, so that it is told apart from a key. */
export const SESSION_TOKEN_PREFIX = 'rys_';

/** The cookie with the token of a session. Browsers take it only over HTTPS, and only from its own host. */
export const SESSION_COOKIE = '__Host-runyard_session';
/** Its name on plain HTTP to a loopback address, where browsers refuse the other one. */
export const LOOPBACK_SESSION_COOKIE = 'runyard_session';

/** The cookie that binds authorizations at OAuth providers to the browser in which they were begun. */
export const OAUTH_COOKIE = '__Host-runyard_oauth';
/** Its name where the platform is served over plain HTTP, as browsers refuse the other one there. */
export const PLAIN_OAUTH_COOKIE = 'runyard_oauth';

/** The cookie of the console, with the token by which its backend acts as a session. It is of the console's own host. */
export const CONSOLE_COOKIE = '__Host-runyard_console';
/** Its name on plain HTTP to a loopback address, where browsers refuse the other one. */
export const LOOPBACK_CONSOLE_COOKIE = 'runyard_console';

/** The cookie that binds a sign-in at the console to the browser in which it was begun. */
export const CONSOLE_SIGN_IN_COOKIE = '__Host-runyard_console_sign_in';
/** Its name on plain HTTP to a loopback address. */
export const LOOPBACK_CONSOLE_SIGN_IN_COOKIE = 'runyard_console_sign_in';

const PLATFORM_COOKIE = /^(__(host|secure|http|host-http)-)?runyard[_-]/i;

/** Returns whether a cookie is the platform's own: deployments never see it. */
export function isPlatformCookie(name: string): boolean {
  return PLATFORM_COOKIE.test(name);
}

const CONSOLE_COOKIE_OF_ANY_PREFIX = /^(__(host|secure|http|host-http)-)?runyard[_-]console([_-]|$)/i;

/** Returns whether a cookie is the console's: nobody else of the platform gets it, whatever prefix its name has. */
export function isConsoleCookie(name: string): boolean {
  return CONSOLE_COOKIE_OF_ANY_PREFIX.test(name);
}

/** Returns the only name under which the session's cookie counts in requests to this address. */
export function sessionCookieName(address: { protocol: string; host: string }): string {
  return isPlainLoopback(address) ? LOOPBACK_SESSION_COOKIE : SESSION_COOKIE;
}

/** Returns the only name under which the console's cookie counts in requests to this address. */
export function consoleCookieName(address: { protocol: string; host: string }): string {
  return isPlainLoopback(address) ? LOOPBACK_CONSOLE_COOKIE : CONSOLE_COOKIE;
}

/** Returns the only name under which the cookie of a sign-in at the console counts in requests to this address. */
export function consoleSignInCookieName(address: { protocol: string; host: string }): string {
  return isPlainLoopback(address) ? LOOPBACK_CONSOLE_SIGN_IN_COOKIE : CONSOLE_SIGN_IN_COOKIE;
}

/** Returns whether an address is plain HTTP to this machine itself, which nobody else can listen to. */
export function isPlainLoopback({ protocol, host }: { protocol: string; host: string }): boolean {
  return protocol === 'http' && LOOPBACK_HOST.test(host);
}

/** Matches `host[:port]`, as `Host` has it. Browsers resolve names below `localhost` to this machine alone (RFC 6761). */
const LOOPBACK_HOST = /^(([a-z\d]([-a-z\d]{0,61}[a-z\d])?\.){0,4}localhost\.?|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Returns the value of a cookie. One that is there twice counts for nothing: a part of the site that may not know it
 * could have added the other.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = cookiesIn(header).filter((cookie) => cookie.name === name);
  return values.length === 1 ? values[0]!.value : undefined;
}

/** Returns the cookies of a `Cookie` header, in their order, with the text of each. */
export function cookiesIn(header: string | undefined): { name: string; value: string; text: string }[] {
  return (header ?? '').split(';').flatMap((part) => {
    const text = part.trim();
    const equals = text.indexOf('=');
    if (text === '') return [];
    // Without an equals sign it is a value without a name, which some servers read as a name.
    return [{ name: equals < 0 ? text : text.slice(0, equals).trim(), value: text.slice(equals + 1).trim(), text }];
  });
}
