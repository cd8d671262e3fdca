import type { RevisionStatus } from '@runyard/contracts';
import { AppError, errorCodeOf, type Logger, sanitizeErrorText } from '@runyard/service-kit';
import { BuildError } from './build-error.ts';
import { hasReached } from './revision-progress.ts';
import { RevisionStartError } from './revision-start-error.ts';
import type { RolloutRevision } from './rollout-rows.ts';

/** Stores the statuses of revisions. */
export interface RevisionStatuses {
  findRevision(id: string): Promise<RolloutRevision | null>;
  /** Returns false when the revision's status does not allow the change, because another change was faster. */
  moveRevision(revision: RolloutRevision, to: RevisionStatus, message?: string | null): Promise<boolean>;
}

/** The revision was interrupted, skipped or finished meanwhile, so its roll-out stops. */
export class RevisionEndedError extends Error {
  override readonly name = 'RevisionEndedError';
}

/** Moves the revision to the status, unless it has reached it already in another process. @throws RevisionEndedError */
export async function reachStatus(
  store: RevisionStatuses,
  revision: RolloutRevision,
  status: RevisionStatus,
): Promise<void> {
  if (await store.moveRevision(revision, status)) return;
  const now = await store.findRevision(revision.id);
  if (!now || !hasReached(now.status, status)) throw new RevisionEndedError();
}

/** Marks the revision as failed, whatever its status. */
export async function failRevision(
  store: Pick<RevisionStatuses, 'moveRevision'>,
  revision: RolloutRevision,
  error: unknown,
  logger: Logger,
): Promise<void> {
  const isItsFault = error instanceof RevisionStartError || error instanceof BuildError || error instanceof AppError;
  const code = errorCodeOf(error);
  if (!isItsFault) logger.error('revision start failed', { revisionId: revision.id, code, error });
  const reason = sanitizeErrorText(error instanceof Error ? error.message : String(error));
  logger.warn('revision failed', { revisionId: revision.id, code, reason });
  if (await store.moveRevision(revision, 'BUILD_FAILED', reason)) return;
  // A revision that was to start is past its build, although it was built again here.
  await store.moveRevision(revision, 'DEPLOYING');
  await store.moveRevision(revision, 'DEPLOY_FAILED', reason);
}
