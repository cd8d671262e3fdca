/** The stateless revision: each request says who asks. */
export const NEW_REVISION = '2026-07-28';
/** Revisions that begin with `initialize`, the newest first. */
export const OLD_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

export type OldRevision = (typeof OLD_REVISIONS)[number];
export type Revision = typeof NEW_REVISION | OldRevision;

export const SUPPORTED_REVISIONS: readonly Revision[] = [NEW_REVISION, ...OLD_REVISIONS];

/** The revision of old clients that name none. */
export const UNNAMED_REVISION: OldRevision = '2025-03-26';

export function isOldRevision(version: unknown): version is OldRevision {
  return (OLD_REVISIONS as readonly unknown[]).includes(version);
}
