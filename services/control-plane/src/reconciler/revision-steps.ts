import type { RevisionStatus } from '@runyard/contracts';
import { isUnavailable } from '@runyard/database';
import { AppError, type Logger, sanitizeErrorText } from '@runyard/service-kit';
import { BuildFailure } from '../builds/build-failure.ts';
import { StartFailure } from '../drivers/driver.ts';
import { hasReached, isWaiting } from '../revisions/revision-progress.ts';
import { TERMINAL } from '../revisions/revision-transitions.ts';
import { ensureStorage, type StorageAccess } from './revision-specs.ts';
import type { RolloutParts } from './rollout-parts.ts';
import type { RolloutDeployment, RolloutRevision, RolloutStore } from './rollout-store.ts';

/** It was interrupted or skipped meanwhile, or came to its end: nothing more is to be done with it. */
export class RevisionEnded extends Error {
  override readonly name = 'RevisionEnded';
}

/**
 * Of revisions that wait, only the newest is rolled out. One that already began goes first, also when it begins elsewhere
 * meanwhile: after the newest it would take its place. Resolves with those that stay.
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

/** Moves on, unless it is there already: as when another process has begun with it. @throws RevisionEnded */
export async function reach(store: RolloutStore, revision: RolloutRevision, status: RevisionStatus): Promise<void> {
  if (await store.moveRevision(revision, status)) return;
  const now = await store.findRevision(revision.id);
  if (!now || !hasReached(now.status, status)) throw new RevisionEnded();
}

/** Makes the deployment's database where it is not there. @throws RevisionEnded when it cannot be made, and never could */
export async function storageFor(
  parts: RolloutParts,
  deployment: RolloutDeployment,
  revision: RolloutRevision,
  logger: Logger,
): Promise<StorageAccess> {
  try {
    return await ensureStorage(parts, deployment);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    logger.error('the storage of a deployment could not be made', { error });
    const reason = sanitizeErrorText((error as Error).message);
    await parts.store.moveRevision(
      revision,
      'CREATE_FAILED',
      `Its database or Redis user could not be made: ${reason}`,
    );
    throw new RevisionEnded();
  }
}

/** The revision failed, wherever it was on its way. */
export async function fail(
  store: RolloutStore,
  revision: RolloutRevision,
  error: unknown,
  logger: Logger,
): Promise<void> {
  const isItsFault = error instanceof StartFailure || error instanceof BuildFailure || error instanceof AppError;
  if (!isItsFault) logger.error('a revision could not be started', { revisionId: revision.id, error });
  const reason = sanitizeErrorText(error instanceof Error ? error.message : String(error));
  logger.warn('a revision failed', { revisionId: revision.id, reason });
  if (await store.moveRevision(revision, 'BUILD_FAILED', reason)) return;
  // Built again where it was to start: it had been built before.
  await store.moveRevision(revision, 'DEPLOYING');
  await store.moveRevision(revision, 'DEPLOY_FAILED', reason);
}
