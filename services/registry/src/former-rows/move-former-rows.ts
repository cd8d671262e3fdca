import { setTimeout as pause } from 'node:timers/promises';
import { FormerImagePage, type FormerImageRows, type FormerImageRowsRequest } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import type { InternalClient, ServiceContext } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { imagesPrefix } from '../stored-images/blob-parts.ts';
import { BASE_LAYERS } from '../stored-images/image-owner.ts';

const RETRY_MS = 500;
/** Number of tries per log line: one line in ten seconds. */
const LOG_EVERY = 20;

interface Dependencies {
  database: Database;
  controlPlane: Pick<InternalClient, 'ask'>;
}

/**
 * Moves what control-plane kept of images in older releases, once; their bytes stay where they are. A page is stored,
 * then deleted there with the next question, so that a kill at any moment leaves each row in one place at least. Nothing is
 * served before the end, and a lock makes each page one step of all processes of this service. Rejects when the service is
 * asked to stop.
 */
export async function moveFormerRows(dependencies: Dependencies, { logger, lifecycle }: ServiceContext): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    lifecycle.stopping.throwIfAborted();
    try {
      if ((await dependencies.database.prisma.formerRowsMoved.findFirst()) !== null) return;
      const moved = await moveAll(dependencies, lifecycle.stopping);
      if (moved > 0) logger.info('rows of control-plane moved', { moved });
      return;
    } catch (error) {
      lifecycle.stopping.throwIfAborted();
      if (tries % LOG_EVERY === 0) logger.warn('waiting for control-plane, which has the rows to move', { error });
    }
    await pause(RETRY_MS, undefined, { signal: lifecycle.stopping }).catch(() => undefined);
  }
}

async function moveAll({ database, controlPlane }: Dependencies, stopping: AbortSignal): Promise<number> {
  let moved = 0;
  let question: FormerImageRowsRequest = {};
  for (;;) {
    stopping.throwIfAborted();
    const { kind, keys } = await database.transact(async (transaction) => {
      await takeAdvisoryLock(transaction, 'rows of control-plane');
      const page = await controlPlane.ask('/internal/images/former-rows', question, FormerImagePage);
      await storeRows(transaction, page.rows);
      // control-plane has deleted what was stored before, and nothing is left.
      if (page.kind === null) await transaction.formerRowsMoved.createMany({ data: {}, skipDuplicates: true });
      return page;
    });
    if (kind === null) return moved;
    moved += keys.length;
    question = { stored: { kind, keys } };
  }
}

/** Stores the rows of a page; those that are here already stay as they are. */
async function storeRows(transaction: Prisma.TransactionClient, rows: FormerImageRows): Promise<void> {
  const skipDuplicates = true;
  await transaction.deployment.createMany({
    data: rows.deployments.map(({ id, workspace_id }) => ({ id, workspaceId: workspace_id })),
    skipDuplicates,
  });
  const layers = rows.base_layers.map(({ digest, size, parts, used_at }) => ({
    ...{ deploymentId: BASE_LAYERS.deploymentId, digest, size, parts, usedAt: used_at },
  }));
  const blobs = rows.blobs.map(({ deployment_id, digest, size, parts, created_at }) => ({
    ...{ deploymentId: deployment_id, digest, size, parts, createdAt: created_at },
    isShared: parts.some(({ key }) => !key.startsWith(imagesPrefix(deployment_id))),
  }));
  await transaction.registryBlob.createMany({ data: [...layers, ...blobs], skipDuplicates });
  await transaction.registryManifest.createMany({
    data: rows.manifests.map((row) => ({
      deploymentId: row.deployment_id,
      repository: row.repository,
      digest: row.digest,
      mediaType: row.media_type,
      content: Uint8Array.from(Buffer.from(row.content, 'base64')),
      subject: row.subject,
      artifactType: row.artifact_type,
      createdAt: row.created_at,
    })),
    skipDuplicates,
  });
  await transaction.registryTag.createMany({
    data: rows.tags.map(({ deployment_id: deploymentId, ...tag }) => ({ deploymentId, ...tag })),
    skipDuplicates,
  });
  await transaction.registryUpload.createMany({
    data: rows.uploads.map(({ id, deployment_id: deploymentId, size, parts, changed_at: changedAt }) => ({
      ...{ id, deploymentId, size, parts, changedAt },
    })),
    skipDuplicates,
  });
}
