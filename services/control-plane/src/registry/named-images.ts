import type { SourceRevisionConfig } from '@runyard/contracts';
import type { Prisma } from '../generated/client.ts';
import { TERMINAL } from '../revisions/revision-transitions.ts';

/** Images that revisions name, as `<registry>/<name>@<digest>` or `<registry>/<name>:<tag>`. */
export interface NamedImages {
  /** Names in revisions that can be deployed again. */
  kept: readonly string[];
  /** Names in all other revisions. */
  old: readonly string[];
}

/**
 * Returns the names of the images of all revisions of a deployment. It locks the deployment, so that no new revision
 * can name another one until the transaction ends.
 *
 * @param revisionsKept the number of newest revisions that can be deployed again
 */
export async function findNamedImages(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
  revisionsKept: number,
): Promise<NamedImages> {
  await transaction.$queryRaw`SELECT 1 FROM deployment WHERE id = ${deploymentId}::uuid FOR SHARE`;
  const deployment = await transaction.deployment.findUnique({ where: { id: deploymentId } });
  const revisions = await transaction.revision.findMany({
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
    const isOver = TERMINAL.some((terminal) => terminal === status);
    (isInUse || !isOver || number > newest - revisionsKept ? kept : old).push(uri);
  }
  return { kept, old };
}
