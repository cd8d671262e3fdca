import type { ErrorCode } from '@runyard/contracts';

/** The source cannot be built, and another attempt would not help. The message is for the source's owner. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
  readonly code = 'build_failed' satisfies ErrorCode;
}
