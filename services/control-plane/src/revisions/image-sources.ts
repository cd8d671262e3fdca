import type { PrismaClient } from '../generated/client.ts';

const IMAGE_SOURCES: readonly string[] = ['internal_docker', 'external_docker'];

/** Returns whether revisions of this source are images. */
export function isImageSource(source: string): boolean {
  return IMAGE_SOURCES.includes(source);
}

/** Returns whether any revision of the deployment was an image. */
export async function hasRunImages(prisma: PrismaClient, deploymentId: string): Promise<boolean> {
  const where = { deploymentId, source: { in: [...IMAGE_SOURCES] } };
  return (await prisma.revision.findFirst({ where, select: { id: true } })) !== null;
}
