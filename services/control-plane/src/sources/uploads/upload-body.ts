import type { IncomingMessage } from 'node:http';
import { UPLOAD_BYTES_MAX, UPLOAD_RANGE_HEADER } from '@runyard/contracts';
import { BadRequestError, payloadTooLargeError } from '@runyard/service-kit';

export interface SizeRange {
  min: number;
  max: number;
}

/**
 * Returns the size that an upload must have according to its headers, within the platform's limit.
 *
 * @throws BadRequestError, PayloadTooLargeError
 */
export function sizeRangeOf({ headers }: IncomingMessage): SizeRange {
  const range = parseRange(headers[UPLOAD_RANGE_HEADER]);
  const announced = headers['content-length'];
  if (announced !== undefined && Number(announced) > range.max) throw payloadTooLargeError(range.max);
  return range;
}

function parseRange(header: string | string[] | undefined): SizeRange {
  if (header === undefined) return { min: 0, max: UPLOAD_BYTES_MAX };
  const [, min, max] = /^(\d{1,15}),(\d{1,15})$/.exec(String(header).replaceAll(' ', '')) ?? [];
  if (min === undefined || max === undefined || Number(min) > Number(max)) {
    throw new BadRequestError(`${UPLOAD_RANGE_HEADER} must be two numbers of bytes, as in 0,${UPLOAD_BYTES_MAX}.`);
  }
  return { min: Number(min), max: Math.min(Number(max), UPLOAD_BYTES_MAX) };
}
