import { cookiesIn, isPlatformCookie } from '@runyard/contracts';

/**
 * The sender of an answer. What a deployment answers is written by its project: below the platform's own host it must not
 * touch what belongs to the whole host.
 */
export type AnswerSource = 'service' | 'deployment at its host' | 'deployment at the platform';

/** Headers with which an answer changes how browsers treat the whole host, and not only what it answers. */
const OF_THE_WHOLE_HOST: ReadonlySet<string> = new Set([
  'clear-site-data',
  'service-worker-allowed',
  'strict-transport-security',
  'alt-svc',
  // Reports would tell the project which pages of the host people visit.
  'nel',
  'report-to',
]);

/**
 * Keeps a page of a deployment apart from the pages of the platform on the same host: its scripts run in an origin of
 * their own, so that they cannot act with the session's cookie.
 */
const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads';
/** Types that no browser shows as a page. */
const NO_PAGE = /^\s*(application\/json|text\/event-stream)\s*(;|$)/i;

/** Returns whether a header of an answer may reach the client. */
export function mayAnswerWith(name: string, value: string, source: AnswerSource): boolean {
  if (source === 'service') return true;
  if (name === 'set-cookie') return !setsPlatformCookie(value);
  return source === 'deployment at its host' || !OF_THE_WHOLE_HOST.has(name);
}

/** Returns headers, names and values, that an answer gets because of its origin. */
export function originHeaders(contentType: string | undefined, source: AnswerSource): readonly string[] {
  if (source !== 'deployment at the platform') return [];
  return contentType !== undefined && NO_PAGE.test(contentType) ? [] : ['content-security-policy', SANDBOX];
}

/** Returns a `Cookie` header without the platform's own; undefined when nothing is left. */
export function withoutPlatformCookies(header: string): string | undefined {
  if (!/runyard/i.test(header)) return header;
  const others = cookiesIn(header).filter(({ name, value }) => !isPlatformCookie(name) && !isNamedByValue(name, value));
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
