import { RegistryError } from '../registry-error.ts';

export interface ByteRange {
  first: number;
  last: number;
}

/**
 * Parses a `Range` header for content of this size. Returns null for the whole content, also when the header is invalid
 * or has several ranges.
 *
 * @throws RegistryError when the range lies outside the content
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return null;
  // Without a first byte, the number counts bytes at the end.
  const first = from === '' ? Math.max(size - Number(to), 0) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first <= last) return { first, last };
  throw new RegistryError('RANGE_INVALID', `There are ${size} bytes.`, { 'content-range': `bytes */${size}` });
}

/** Returns the first byte of a piece according to `Content-Range`; undefined without the header. */
export function startOf(contentRange: string | undefined): number | undefined {
  if (contentRange === undefined) return undefined;
  const start = /^(?:bytes )?(\d+)-\d+/.exec(contentRange)?.[1];
  if (start !== undefined) return Number(start);
  throw new RegistryError('BLOB_UPLOAD_INVALID', 'Content-Range has the form <first>-<last>.');
}
