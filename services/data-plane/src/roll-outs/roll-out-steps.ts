import type { RevisionStatus } from '@runyard/contracts';
import { FINAL_REVISION_STATUSES } from '@runyard/contracts';
import { isUnavailable } from '@runyard/database';
import type { RolloutDeployment, RolloutRevision } from '@runyard/deployments';
import { isWaiting, RevisionEndedError } from '@runyard/deployments';
import { type Logger, sanitizeErrorText } from '@runyard/service-kit';
import { ensureStorage, type StorageAccess } from './revision-specs.ts';
import type { RolloutDependencies } from './rollout-dependencies.ts';
import type { RolloutStore } from './rollout-store.ts';

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
    if (now && !isWaiting(now.status) && !FINAL_REVISION_STATUSES.includes(now.status as RevisionStatus))
      remaining.push(now);
  }
  return remaining;
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
