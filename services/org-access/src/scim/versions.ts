import type { IncomingHttpHeaders } from 'node:http';
import type { Reply } from '@runyard/service-kit';
import { PreconditionFailedError } from './scim-error.ts';

/** Returns the weak ETag of a version. */
export function etagOf({ version }: { version: number }): string {
  return `W/"${version}"`;
}

/** @throws PreconditionFailedError when `If-Match` names other versions only */
export function requireVersion(headers: IncomingHttpHeaders, resource: { version: number }): void {
  const expected = headers['if-match'];
  if (expected === undefined || names(expected, resource)) return;
  throw new PreconditionFailedError('The resource was changed meanwhile', { code: 'scim_version_conflict' });
}

/** Returns the answer for a client that has this version already; undefined: it has not. */
export function unchanged(headers: IncomingHttpHeaders, resource: { version: number }): Reply | undefined {
  const known = headers['if-none-match'];
  if (known === undefined || !names(known, resource)) return undefined;
  return { status: 304, headers: { etag: etagOf(resource) } };
}

/** Compares weakly: `W/"1"` and `"1"` are the same version. */
function names(header: string, resource: { version: number }): boolean {
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(`"${resource.version}"`);
}
