import { cookiesIn, isPlatformCookie } from '@runyard/contracts';

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

/** Returns whether a header of an answer may reach the client. */
export function mayAnswerWith(name: string, source: AnswerSource): boolean {
  return source !== 'deployment at the platform' || !NOT_AT_THE_PLATFORM.has(name);
}

/** Returns headers, names and values, that every answer gets because of its origin. */
export function originHeaders(source: AnswerSource): readonly string[] {
  return source === 'deployment at the platform' ? APART_FROM_THE_HOST : [];
}

/** Returns a `Cookie` header without the platform's own; undefined when nothing is left. */
export function withoutPlatformCookies(header: string): string | undefined {
  if (!/runyard/i.test(header)) return header;
  const others = cookiesIn(header).filter(({ name }) => !isPlatformCookie(name));
  return others.length === 0 ? undefined : others.map(({ text }) => text).join('; ');
}
