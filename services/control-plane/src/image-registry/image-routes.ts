import {
  describeImageDeployment,
  handOverFormerImages,
  listNamedImages,
  openFormerImageToken,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { PrismaClient } from '../generated/client.ts';
import type { StorageQuota } from '../storage-quota/storage-quota.ts';
import type { FormerImages } from './former-image-rows.ts';
import type { FormerImageTokens } from './former-image-tokens.ts';
import { findNamedImages } from './named-images.ts';

/** Binds what the registry asks. */
export function imageRoutes(parts: {
  prisma: PrismaClient;
  quota: Pick<StorageQuota, 'limitsOf'>;
  former: FormerImages;
  formerTokens: FormerImageTokens;
  /** The number of a deployment's newest revisions that can be deployed again. */
  revisionsKept: number;
}): BoundOperation[] {
  const { prisma, quota, former, formerTokens, revisionsKept } = parts;
  return [
    bind(describeImageDeployment, async ({ body: { deployment_id: id } }) => {
      const where = { id, deleteRequestedAt: null };
      const found = await prisma.deployment.findFirst({ where, select: { workspaceId: true, source: true } });
      if (!found) return ok({ deployment: null });
      const { workspaceId: workspace_id, source } = found;
      const storage = await quota.limitsOf(id, workspace_id);
      return ok({ deployment: { workspace_id, accepts_pushes: source === 'internal_docker', storage } });
    }),
    bind(listNamedImages, async ({ body }) => ok(await findNamedImages(prisma, body.deployment_id, revisionsKept))),
    bind(handOverFormerImages, async ({ body }) => {
      if (body.stored) await former.delete(body.stored);
      return ok(await former.read());
    }),
    bind(openFormerImageToken, async ({ body }) => ok({ grant: formerTokens.open(body.token) })),
  ];
}
