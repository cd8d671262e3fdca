import { countStoredImages, removeImages } from '@runyard/contracts';
import type { ObjectStorage } from '@runyard/object-storage';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { StorageQuota } from './storage-quota/storage-quota.ts';
import { imagesPrefix } from './stored-images/blob-parts.ts';
import type { RegistryStore } from './stored-images/registry-store.ts';

/** Binds what control-plane asks. */
export function imageRoutes(parts: {
  store: RegistryStore;
  objects: Pick<ObjectStorage, 'removeBelow'>;
  quota: Pick<StorageQuota, 'count'>;
}): BoundOperation[] {
  const { store, objects, quota } = parts;
  return [
    bind(removeImages, async ({ body: { deployment_id: id } }) => {
      await store.removeDeployment(id);
      await objects.removeBelow(imagesPrefix(id));
      return ok({});
    }),
    bind(countStoredImages, async ({ body }) =>
      ok(
        await quota.count({
          deploymentId: body.deployment_id,
          workspaceId: body.workspace_id,
          isForPlatform: body.is_for_platform,
        }),
      ),
    ),
  ];
}
