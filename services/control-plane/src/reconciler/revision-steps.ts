import type { RevisionStatus } from '@runyard/contracts';
import { isUnavailable } from '@runyard/database';
import { AppError, errorCodeOf, type Logger, sanitizeErrorText } from '@runyard/service-kit';
import { BuildError } from '../revisions/build-error.ts';
import { RevisionStartError } from '../revisions/driver.ts';
import { hasReached, isWaiting } from '../revisions/revision-progress.ts';
import { TERMINAL } from '../revisions/revision-transitions.ts';
import type { RolloutDeployment, RolloutRevision, RolloutStore } from '../revisions/rollout-store.ts';
import { ensureStorage, type StorageAccess } from './revision-specs.ts';
import type { RolloutDependencies } from './rollout-dependencies.ts';

/** The revision was interrupted, skipped or finished meanwhile, so its roll-out stops. */
export class RevisionEndedError extends Error {
  override readonly name = 'RevisionEndedError';
}

/**
 * Skips all waiting revisions but the newest. A revision that has begun is kept and goes first, even if another process
 * begins it meanwhile: after the newest, it would replace it. Resolves with the revisions that are kept.
 */
export async function skipSuperseded(store: RolloutStore, open: RolloutRevision[]): Promise<RolloutRevision[]> {
  const newest = open.at(-1);
  const remaining: RolloutRevision[] = [];
  for (const revision of open) {
    if (!isWaiting(revision.status) || revision === newest) {
      remaining.push(revision);
      continue;
    }
    await store.moveRevision(revision, 'QUEUED');
    if (await store.moveRevision(revision, 'SKIPPED', 'A newer revision took its place.')) continue;
    const now = await store.findRevision(revision.id);
    if (now && !isWaiting(now.status) && !TERMINAL.includes(now.status as RevisionStatus)) remaining.push(now);
  }
  return remaining;
}

/** Moves the revision to the status, unless it has reached it already in another process. @throws RevisionEndedError */
export async function reachStatus(
  store: RolloutStore,
  revision: RolloutRevision,
  status: RevisionStatus,
): Promise<void> {
  if (await store.moveRevision(revision, status)) return;
  const now = await store.findRevision(revision.id);
  if (!now || !hasReached(now.status, status)) throw new RevisionEndedError();
}

/**
 * Creates the deployment's database if it does not exist.
 *
 * @throws RevisionEndedError when it cannot be created, and never existed
 */
export async function ensureStorageOrFail(
  dependencies: RolloutDependencies,
  deployment: RolloutDeployment,
  revision: RolloutRevision,
  logger: Logger,
): Promise<StorageAccess> {
  try {
    return await ensureStorage(dependencies, deployment);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    logger.error('deployment storage creation failed', { error });
    const reason = sanitizeErrorText((error as Error).message);
    await dependencies.store.moveRevision(
      revision,
      'CREATE_FAILED',
      `Its database or Redis user could not be made: ${reason}`,
    );
    throw new RevisionEndedError();
  }
}

/** Marks the revision as failed, whatever its status. */
export async function failRevision(
  store: RolloutStore,
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
