import type { Page } from './registry-store.ts';

const NAMES_MAX = 1000;

/** What `n` and `last` of a query ask for. */
export function pageAsked({ n, last }: Record<string, string | undefined>): Page {
  const count = n === undefined ? NAMES_MAX : Math.min(Math.max(Number.parseInt(n, 10) || 0, 0), NAMES_MAX);
  return { count, ...(last === undefined ? {} : { last }) };
}

/** Says where the rest of a list is, unless the page is not full. */
export function linkToRest(path: string, names: string[], { count }: Page): Record<string, string> {
  const last = names.at(-1);
  if (last === undefined || names.length < count) return {};
  return { link: `<${path}?n=${count}&last=${encodeURIComponent(last)}>; rel="next"` };
}
