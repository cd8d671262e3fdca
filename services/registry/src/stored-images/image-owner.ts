import type { StorageLimits } from '@runyard/contracts';

/** The deployment for which images are stored, as control-plane describes it. */
export interface ImageOwner {
  deploymentId: string;
  workspaceId: string | null;
  /** Null for the layers of base images: only the disk limits them. */
  storage: StorageLimits | null;
}

/** Stands for all base images: each of their layers is there once, and images of projects share it. */
export const BASE_LAYERS: ImageOwner = {
  // No deployment has this id.
  deploymentId: '00000000-0000-0000-0000-000000000000',
  workspaceId: null,
  storage: null,
};
