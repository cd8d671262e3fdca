import { FINAL_REVISION_STATUSES } from '@runyard/contracts';
import { pendingObjects } from '@runyard/object-storage';
import type { Queries } from '../../database/database.ts';
import { Prisma, type SourceUpload } from '../../generated/client.ts';

/** Stores the uploads of deployments. Callers have been authorized for the deployment, or by a signature. */
export const uploadStore = {
  insert(queries: Queries, upload: { id: string; deploymentId: string; objectPath: string; expiresAt: Date }) {
    return queries.sourceUpload.create({ data: upload });
  },

  find(queries: Queries, id: string): Promise<SourceUpload | null> {
    return queries.sourceUpload.findUnique({ where: { id } });
  },

  /**
   * Finds an upload and locks it against withdrawal until the transaction ends. Returns null for a path that the
   * deployment was never given.
   */
  async findForUse(
    transaction: Queries,
    deploymentId: string,
    objectPath: string,
  ): Promise<Pick<SourceUpload, 'bytes'> | null> {
    const rows = await transaction.$queryRaw<Pick<SourceUpload, 'bytes'>[]>`
      SELECT bytes FROM source_upload
      WHERE deployment_id = ${deploymentId}::uuid AND object_path = ${objectPath} FOR KEY SHARE`;
    return rows[0] ?? null;
  },

  /**
   * Lets one request store an archive until a time. From here on the upload counts as not made, so that no revision names
   * an archive that is being replaced. An upload that was withdrawn may be begun: its end finds out.
   */
  async beginStoring(
    transaction: Prisma.TransactionClient,
    { id, deploymentId, objectPath }: SourceUpload,
    { requestId, forMs }: { requestId: string; forMs: number },
  ): Promise<'begun' | 'in use' | 'being stored'> {
    // A revision that is being created with the archive holds a lock on the row: it is waited for.
    const [row] = await transaction.$queryRaw<{ isBeingStored: boolean | null }[]>`
      SELECT stored_until > now() AS "isBeingStored" FROM source_upload WHERE id = ${id}::uuid FOR UPDATE`;
    const used = await transaction.revision.findFirst({
      where: { deploymentId, sourceRevisionConfig: { path: ['source_tarball_path'], equals: objectPath } },
      select: { id: true },
    });
    if (used) return 'in use';
    if (row?.isBeingStored) return 'being stored';
    await transaction.$executeRaw`
      UPDATE source_upload SET bytes = NULL, stored_by = ${requestId}::uuid,
        stored_until = now() + ${forMs}::float8 * interval '1 millisecond'
      WHERE id = ${id}::uuid`;
    return 'begun';
  },

  /** Returns false when the upload was withdrawn, or its deployment deleted or about to be. */
  async markReceived(queries: Queries, id: string, requestId: string, bytes: number): Promise<boolean> {
    const { count } = await queries.sourceUpload.updateMany({
      where: { id, storedBy: requestId, deployment: { deleteRequestedAt: null } },
      data: { bytes, storedBy: null, storedUntil: null },
    });
    return count > 0;
  },

  /** Lets other requests store an archive, after this one could not. */
  async giveUpStoring(queries: Queries, id: string, requestId: string): Promise<void> {
    await queries.sourceUpload.updateMany({
      where: { id, storedBy: requestId },
      data: { storedBy: null, storedUntil: null },
    });
  },

  /**
   * Deletes expired uploads that no revision needs; no revision can use them from now on. The revisions that need
   * theirs are a deployment's newest ones, the active one and unfinished ones.
   *
   * @returns keys of their objects, which have no owner any more
   */
  async withdrawUnused(
    transaction: Prisma.TransactionClient,
    { newest, limit }: { newest: number; limit: number },
  ): Promise<string[]> {
    const unused = Prisma.sql`NOT EXISTS (
      SELECT 1 FROM revision r
      WHERE r.deployment_id = u.deployment_id
        AND r.source_revision_config ->> 'source_tarball_path' = u.object_path
        AND (r.id IN (d.active_revision_id, d.latest_revision_id) OR r.status <> ALL (${[...FINAL_REVISION_STATUSES]}::text[])
          OR r.number > (SELECT max(number) FROM revision WHERE deployment_id = d.id) - ${newest}::integer))`;
    const held = await transaction.$queryRaw<{ id: string }[]>`
      SELECT u.id FROM source_upload u JOIN deployment d ON d.id = u.deployment_id
      WHERE u.expires_at < now() AND ${unused}
      ORDER BY u.expires_at LIMIT ${limit} FOR UPDATE OF u SKIP LOCKED`;
    // The condition is checked again, because a revision may have been created before the rows were locked.
    const withdrawn = await transaction.$queryRaw<{ objectPath: string }[]>`
      DELETE FROM source_upload u USING deployment d
      WHERE d.id = u.deployment_id AND u.id = ANY(${held.map(({ id }) => id)}::uuid[]) AND ${unused}
      RETURNING u.object_path AS "objectPath"`;
    const keys = withdrawn.map(({ objectPath }) => objectPath);
    await pendingObjects.removeOwner(transaction, keys);
    return keys;
  },
};
