import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderChoice } from '@runyard/graph-host';

/** Credentials and whose they are: they go nowhere, whatever a choice says. */
const NEVER: ReadonlySet<string> = new Set(['x-api-key', 'x-tenant-id', 'x-service-key']);
/** Credentials that a project may want all the same: picked when they are named, never by a wildcard. */
const NAMED_ONLY: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie']);
/** What the platform says to itself, in headers and in `configurable`: nobody else may speak in its name. */
const OWN_NAMES = /^(x-runyard-|langgraph_|svc_|__)/;

export type PickHeaders = (headers: IncomingHttpHeaders) => Record<string, string>;

/**
 * Picks the request headers that a choice names, by lower-case name. `*` stands for any text, but for credentials, and nothing
 * else is special;
 * what is excluded stays out however it is included. Without a choice there are none.
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
