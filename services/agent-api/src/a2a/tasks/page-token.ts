import { isUuid } from '@runyard/contracts';
import { invalidParams } from '../protocol/a2a-error.ts';

/** The place of a task in a list. */
export interface PageMark {
  /** Time of the last change, to the microsecond. */
  changedAt: string;
  runId: string;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

export function toPageToken({ changedAt, runId }: PageMark): string {
  return Buffer.from(`${changedAt} ${runId}`).toString('base64url');
}

/** @throws A2aError */
export function readPageToken(token: string): PageMark {
  const [changedAt = '', runId = '', ...rest] = Buffer.from(token, 'base64url').toString().split(' ');
  const isTime = TIME.test(changedAt) && !Number.isNaN(Date.parse(changedAt));
  if (rest.length > 0 || !isTime || !isUuid(runId)) throw invalidParams('pageToken', 'is none of this list');
  return { changedAt, runId };
}
