import type { Queries } from '../../database/database.ts';
import type { SourceUpload } from '../../generated/client.ts';
import { TERMINAL } from '../../revisions/revision-transitions.ts';

/** Uploads of a deployment. Whoever asks has shown that the deployment is theirs, or a signature. */
export const uploadStore = {
  insert(queries: Queries, upload: { id: string; deploymentId: string; objectPath: string; expiresAt: Date }) {
    return queries.sourceUpload.create({ data: upload });
  },

  find(queries: Queries, id: string): Promise<SourceUpload | null> {
    return queries.sourceUpload.findUnique({ where: { id } });
  },

  /** Null when the deployment was never given that path. */
  findByPath(queries: Queries, deploymentId: string, objectPath: string): Promise<SourceUpload | null> {
    return queries.sourceUpload.findFirst({ where: { deploymentId, objectPath } });
  },

  /** False when the upload is gone with its deployment, or about to be. */
  async received(queries: Queries, id: string, bytes: number): Promise<boolean> {
    const { count } = await queries.sourceUpload.updateMany({
      where: { id, deployment: { deleteRequestedAt: null } },
      data: { bytes },
    });
    return count > 0;
  },

  async isInUse(queries: Queries, { deploymentId, objectPath }: SourceUpload): Promise<boolean> {
    const used = await queries.revision.findFirst({
      where: { deploymentId, sourceRevisionConfig: { path: ['source_tarball_path'], equals: objectPath } },
      select: { id: true },
    });
    return used !== null;
  },

  /**
   * Has uploads that expired, and that no revision needs, count as not made from here on, and says which. A deployment's newest
   * revisions need theirs, and so do the one that serves and those that are not at their end.
   */
  async withdrawUnused(
    queries: Queries,
    { newest, limit }: { newest: number; limit: number },
  ): Promise<Pick<SourceUpload, 'id' | 'objectPath'>[]> {
    return queries.$queryRaw`
      UPDATE source_upload SET bytes = NULL WHERE id IN (
        SELECT u.id FROM source_upload u JOIN deployment d ON d.id = u.deployment_id
        WHERE u.expires_at < now() AND NOT EXISTS (
          SELECT 1 FROM revision r
          WHERE r.deployment_id = u.deployment_id
            AND r.source_revision_config ->> 'source_tarball_path' = u.object_path
            AND (r.id IN (d.active_revision_id, d.latest_revision_id) OR r.status <> ALL (${[...TERMINAL]}::text[])
              OR r.number > (SELECT max(number) FROM revision WHERE deployment_id = d.id) - ${newest}::integer))
        ORDER BY u.expires_at LIMIT ${limit} FOR UPDATE OF u SKIP LOCKED)
      RETURNING id, object_path AS "objectPath"`;
  },

  /** Forgets one that was withdrawn, unless an archive that was still on its way has come. */
  async forget(queries: Queries, id: string): Promise<void> {
    await queries.sourceUpload.deleteMany({ where: { id, bytes: null } });
  },
};
