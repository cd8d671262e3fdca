import type { ErrorCode } from '@runyard/contracts';

/** The revision cannot be started. The message is for its owner. */
export class RevisionStartError extends Error {
  override readonly name = 'RevisionStartError';
  readonly code = 'revision_start_failed' satisfies ErrorCode;
}
