import type { NamedImages, SourceRevisionConfig } from '@runyard/contracts';
import { FINAL_REVISION_STATUSES } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';

/**
 * Returns the names of the images of all revisions of a deployment.
 *
 * @param revisionsKept the number of newest revisions that can be deployed again
 */
export async function findNamedImages(
  queries: Queries,
  deploymentId: string,
  revisionsKept: number,
): Promise<NamedImages> {
  const deployment = await queries.deployment.findUnique({ where: { id: deploymentId } });
  const revisions = await queries.revision.findMany({
    where: { deploymentId },
    select: { id: true, number: true, status: true, sourceRevisionConfig: true },
    orderBy: { number: 'desc' },
  });
  const newest = revisions[0]?.number ?? 0;
  const kept: string[] = [];
  const old: string[] = [];
  for (const { id, number, status, sourceRevisionConfig } of revisions) {
    const { image_uri: uri } = sourceRevisionConfig as SourceRevisionConfig;
    if (uri == null) continue;
    const isInUse = id === deployment?.activeRevisionId || id === deployment?.latestRevisionId;
    const isOver = FINAL_REVISION_STATUSES.some((terminal) => terminal === status);
    (isInUse || !isOver || number > newest - revisionsKept ? kept : old).push(uri);
  }
  return { kept, old };
}
