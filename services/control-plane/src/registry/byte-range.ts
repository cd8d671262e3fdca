import { RegistryError } from './registry-error.ts';

export interface ByteRange {
  first: number;
  last: number;
}

/**
 * What a `Range` header asks of so many bytes; null for all of them, which is also the answer to what is no range, or several.
 *
 * @throws RegistryError when none of the bytes are there
 */
export function rangeAsked(header: string | undefined, size: number): ByteRange | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return null;
  // Without a beginning: so many of the last.
  const first = from === '' ? Math.max(size - Number(to), 0) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first <= last) return { first, last };
  throw new RegistryError('RANGE_INVALID', `There are ${size} bytes.`, { 'content-range': `bytes */${size}` });
}

/** Where a client says that its piece of an upload begins; undefined when it does not. */
export function startOf(contentRange: string | undefined): number | undefined {
  if (contentRange === undefined) return undefined;
  const start = /^(?:bytes )?(\d+)-\d+/.exec(contentRange)?.[1];
  if (start !== undefined) return Number(start);
  throw new RegistryError('BLOB_UPLOAD_INVALID', 'Content-Range has the form <first>-<last>.');
}
