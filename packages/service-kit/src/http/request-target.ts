import type { IncomingMessage } from 'node:http';
import { BadRequestError } from '../errors.ts';

/** Characters that parsers of URLs take for the end of a path, for a slash, or for white space around it. */
const AMBIGUOUS = /[#\\\s]/;

/**
 * Gives a target in absolute form (`GET http://host/path`) the form that everything here reads, path and query. It
 * names the host itself, whatever `Host` says, which a proxy replaces (RFC 9112, 3.2.2). A target with a user in it is
 * left as it is, and leads nowhere.
 */
export function splitAbsoluteTarget(req: IncomingMessage): void {
  if (req.url === undefined || req.url.startsWith('/')) return;
  const [, authority, rest = ''] = /^https?:\/\/([^/?#@]+)([/?].*)?$/i.exec(req.url) ?? [];
  if (authority === undefined) return;
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = authority;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    if (req.rawHeaders[index]?.toLowerCase() === 'host') req.rawHeaders[index + 1] = authority;
  }
}

/**
 * Returns whether the path of a target is the same for who compares its text and for who parses it as a URL. Rules
 * about paths compare, and Express parses: `/metrics#` would pass as another path and be served as `/metrics`.
 */
export function isUnambiguousTarget(target: string): boolean {
  return !AMBIGUOUS.test(target.split('?', 1)[0]!);
}

/** @throws BadRequestError for a target that is not unambiguous; none of them is valid (RFC 9112, 3.2) */
export function checkTarget({ url = '/' }: Pick<IncomingMessage, 'url'>): void {
  if (!isUnambiguousTarget(url)) throw new BadRequestError('The request target has a character that has to be encoded');
}
