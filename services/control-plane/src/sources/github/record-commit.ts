import type { PrismaClient } from '../../generated/client.ts';

/** Stores the commit in the revision that was built of it, and in the deployment if that is its latest revision. */
export async function recordCommit(prisma: PrismaClient, revisionId: string, commit: string): Promise<void> {
  await prisma.$executeRaw`
    WITH found AS (SELECT jsonb_build_object('repo_commit_sha', ${commit}::text) AS fields), built AS (
      UPDATE revision SET source_revision_config = source_revision_config || found.fields
      FROM found WHERE id = ${revisionId}::uuid)
    UPDATE deployment SET source_revision_config = source_revision_config || found.fields
    FROM found WHERE latest_revision_id = ${revisionId}::uuid`;
}
