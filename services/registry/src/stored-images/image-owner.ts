import type { StorageLimits } from '@runyard/contracts';

/** The deployment for which images are stored, as control-plane describes it. */
export interface ImageOwner {
  deploymentId: string;
  workspaceId: string | null;
  /** Null for the layers of base images: only the disk limits them. */
  storage: StorageLimits | null;
}
