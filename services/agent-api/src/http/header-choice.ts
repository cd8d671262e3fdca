import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderChoice } from '@runyard/project';

/** Credentials and tenant ids: they are never picked, whatever a choice says. */
const NEVER: ReadonlySet<string> = new Set(['x-api-key', 'x-tenant-id', 'x-service-key']);
/** Credentials that a project may still want: they are picked when named, never by a wildcard. */
const NAMED_ONLY: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie']);
/** Names that the platform uses between its own parts, in headers and in `configurable`: nobody else may set them. */
const OWN_NAMES = /^(x-runyard-|langgraph_|svc_|__)/;

export type PickHeaders = (headers: IncomingHttpHeaders) => Record<string, string>;

/**
 * Returns a function that picks the request headers that a choice names, by lower-case name. `*` stands for any text,
 * credentials excepted, and nothing else is special; an excluded name stays out however it is included. Without a
 * choice it picks none.
 */
export function headerPicker(choice: HeaderChoice | undefined): PickHeaders {
  const includes = patternsOf(choice?.includes, choice?.include);
  const excludes = patternsOf(choice?.excludes, choice?.exclude);
  if (includes.length === 0) return () => ({});
  const named = new Set([...(choice?.includes ?? []), ...(choice?.include ?? [])].map((name) => name.toLowerCase()));
  const fits = (name: string) =>
    !NEVER.has(name) &&
    !OWN_NAMES.test(name) &&
    (!NAMED_ONLY.has(name) || named.has(name)) &&
    !excludes.some((pattern) => pattern.test(name)) &&
    includes.some((pattern) => pattern.test(name));
  return (headers) => {
    const picked: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined && fits(name)) picked[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    return picked;
  };
}

function patternsOf(...lists: (string[] | undefined)[]): RegExp[] {
  return lists
    .flatMap((list) => list ?? [])
    .map((text) => text.toLowerCase().split('*').map(escapeForRegExp).join('.*'))
    .map((source) => new RegExp(`^${source}$`));
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
