import type { SourceRevisionConfig } from '@runyard/contracts';
import type { Prisma } from '../generated/client.ts';
import { TERMINAL } from '../revisions/revision-transitions.ts';

/** Of revisions, as `<registry>/<name>@<digest>` or `<registry>/<name>:<tag>`. */
export interface NamedImages {
  /** That can be deployed again. */
  kept: readonly string[];
  /** That cannot. */
  old: readonly string[];
}

/**
 * Names of the images of all revisions of a deployment. No revision comes to name another one until the transaction ends.
 *
 * @param revisionsKept how many of the newest can be deployed again
 */
export async function namedImages(
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
