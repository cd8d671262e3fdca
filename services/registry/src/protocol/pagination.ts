import { RegistryError } from '../registry-error.ts';
import type { ListRequest } from '../stored-images/registry-store.ts';

const NAMES_MAX = 1000;

/**
 * Parses the parameters `n` and `last` of a query.
 *
 * @throws RegistryError when `n` is no number, or `last` no name
 */
export function parsePage({ n, last }: Record<string, string | undefined>): ListRequest {
  if (n !== undefined && !/^\d+$/.test(n)) throw new RegistryError('PAGINATION_NUMBER_INVALID', '`n` is a count.');
  if (last !== undefined && !/^[\w./-]*$/.test(last)) throw new RegistryError('NAME_INVALID', '`last` is a name.');
  const count = n === undefined ? NAMES_MAX : Math.min(Number(n), NAMES_MAX);
  return { count, ...(last === undefined ? {} : { last }) };
}

/** Returns the header with a link to the next page, if this page is full. */
export function nextPageLink(path: string, names: string[], { count }: ListRequest): Record<string, string> {
  const last = names.at(-1);
  if (last === undefined || names.length < count) return {};
  return { link: `<${path}?n=${count}&last=${encodeURIComponent(last)}>; rel="next"` };
}
